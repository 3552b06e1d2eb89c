// Follows the server: its changes, and what is wrong with the connection. It mends what is lost.

import type { Trouble, View } from "./api";
import { connection, generation, overview, problem, session, view } from "./app";
import { ApiError, getOverview, getSession, patiently, sentence, strangers } from "./net";

let events: EventSource | null = null;
let retry = 0;
let timer = 0;
let paused = false;
let missed = false;
let seen = 0; // The seq of the last view that the page shows or follows.
let trouble = "";

/** Loads the first overview, waiting for a server that has none yet, and follows from then on. */
export async function startLive(): Promise<void> {
  strangers.on(() => void end());
  await loadOverview();
  connect();
}

let loading = false;
let again = false;

/** Loads the overview; calls while one is under way cause one more, not many. */
export async function loadOverview(): Promise<void> {
  if (loading) {
    again = true;
    return;
  }
  loading = true;
  try {
    const next = await patiently(getOverview, (message) => {
      if (overview.value === null) problem.set(message);
    });
    seen = Math.max(seen, next.seq);
    trouble = next.trouble ? sentence(next.trouble.message) : "";
    if (connection.value !== "lost") problem.set(trouble);
    overview.set(next);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) problem.set(error.message);
  } finally {
    loading = false;
    if (again) {
      again = false;
      setTimeout(() => void loadOverview(), 400);
    }
  }
}

function connect(): void {
  events?.close();
  const source = new EventSource("/ui/v1/events");
  events = source;
  source.addEventListener("view", (event) => receive(JSON.parse((event as MessageEvent<string>).data) as View));
  source.addEventListener("trouble", (event) => {
    const told = JSON.parse((event as MessageEvent<string>).data) as Trouble;
    trouble = sentence(told.message);
    problem.set(trouble);
  });
  source.addEventListener("well", () => {
    trouble = "";
    problem.set("");
  });
  source.addEventListener("bye", () => lose("The server has ended."));
  source.onopen = opened;
  source.onerror = () => lose("The connection to the server is lost.");
}

function opened(): void {
  retry = 0;
  const wasLost = connection.value === "lost";
  connection.set(calmState());
  problem.set(trouble);
  if (wasLost) void loadOverview();
}

function calmState(): "paused" | "file" | "live" {
  if (paused) return "paused";
  return overview.value?.live === false ? "file" : "live";
}

/** Says that the connection is lost, and tries again: soon at first, then every 5 seconds. */
function lose(message: string): void {
  events?.close();
  events = null;
  if (connection.value === "ended") return;
  connection.set("lost");
  problem.set(`${message} What you see may be old. Trying again.`);
  retry = Math.min(retry + 1, 10);
  clearTimeout(timer);
  timer = window.setTimeout(() => void mend(), Math.min(5000, 250 * 2 ** retry));
}

async function mend(): Promise<void> {
  try {
    const now = await getSession();
    session.set(now);
    if (now.mode === "team" && now.user === null) return end();
    // A server that was started anew does not know this page; only a protected path says so.
    await getOverview();
    connect();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return end();
    lose(error instanceof ApiError && error.status === 503 ? error.message : "The server does not answer.");
  }
}

/** Ends: the server does not know this page any more. The page says what to do. */
function end(): void {
  clearTimeout(timer);
  events?.close();
  events = null;
  connection.set("ended");
}

let refresh = 0;

function receive(next: View): void {
  if (paused) {
    missed = missed || next.seq !== seen;
    return;
  }
  const first = next.changes.length === 0 && next.more === 0;
  if (next.seq === seen) return;
  if (first || next.seq < seen) {
    // The changes between are not known: the server may have been started anew.
    seen = next.seq;
    generation.set(generation.value + 1);
    void loadOverview();
    return;
  }
  seen = next.seq;
  view.set(next);
  clearTimeout(refresh);
  refresh = window.setTimeout(() => void loadOverview(), 150);
}

export function isPaused(): boolean {
  return paused;
}

/** Stops or resumes showing changes. After a pause everything is loaded anew. */
export function togglePause(): void {
  if (connection.value === "lost" || connection.value === "ended") return;
  paused = !paused;
  connection.set(calmState());
  if (paused || !missed) return;
  missed = false;
  generation.set(generation.value + 1);
  void loadOverview();
}
