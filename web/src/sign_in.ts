// Signing in, for a team, and the page of one whose link or session has ended.

import { session } from "./app";
import { button, fill, h, setShown } from "./dom";
import { getSession, messageOf, patiently, signIn } from "./net";

const host = h("main", { class: "gate", hidden: true });

export function startGate(parent: HTMLElement): void {
  parent.append(host);
}

/** Shows the form until someone is signed in. */
export async function untilSignedIn(): Promise<void> {
  for (;;) {
    const now = await patiently(getSession, (message) => wait(message));
    session.set(now);
    if (now.mode === "local" || now.user !== null) break;
    await askForToken();
  }
  document.body.classList.remove("gated");
  setShown(host, false);
}

function open(...children: HTMLElement[]): void {
  document.body.classList.add("gated");
  fill(host, h("div", { class: "gate-box" }, ...children));
  setShown(host, true);
}

function wait(message: string): void {
  open(h("h1", {}, "Berth"), h("p", { role: "status" }, `${message} Trying again.`));
}

function askForToken(): Promise<void> {
  return new Promise((resolve) => {
    const token = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-hint" });
    const error = h("p", { class: "error", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: "button primary" }, "Sign in");
    const form = h("form", {},
      h("label", { class: "stacked", for: "token" }, "Token", token),
      h("p", { class: "note", id: "token-hint" }, "For example the output of ", h("code", {}, "kubectl create token NAME"),
        ". It must be allowed to list Services of all namespaces. The token is checked by the cluster and not kept."),
      error, submit);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit.disabled = true;
      signIn(token.value.trim()).then(resolve, (reason: unknown) => {
        submit.disabled = false;
        error.textContent = messageOf(reason);
        setShown(error, true);
        token.select();
      });
    });
    open(h("h1", {}, "Sign in to Berth"), form);
    token.focus();
  });
}

/** Says that this page is not known any more. */
export function showEnd(): void {
  open(h("h1", {}, "This link is no longer valid"),
    h("p", {}, "The server has been started again, or this link was never opened in this browser. ",
      "Open the link that ", h("code", {}, "berth ui"), " prints."),
    button("Try again", () => location.reload(), { class: "button primary" }));
}
