// Starts the page: who may see it, then what there is to see.

import { connection, overview, problem, route, session, startRoute } from "./app";
import { byId, setShown } from "./dom";
import { startHeader } from "./header";
import { startHelp } from "./help";
import { startKeys } from "./keys";
import { startLive } from "./live";
import { startDrawer } from "./panels/drawer";
import { showEnd, startGate, untilSignedIn } from "./sign_in";
import { ApiError, messageOf } from "./net";
import { startTheme } from "./theme";
import { startFindings } from "./views/findings_view";
import { startMapView } from "./views/map_view";
import { startOverview } from "./views/overview_view";

function build(): void {
  startTheme();
  const main = byId("main");
  startHeader(byId("bar"));
  startOverview(main);
  startMapView(main);
  startFindings(main);
  startDrawer(byId("app"));
  startGate(document.body);
  startHelp(document.body);
  startKeys();
  const starting = byId("starting");
  const showStarting = (): void => {
    starting.textContent = overview.value === null ? problem.value || "Loading" : "";
    setShown(starting, overview.value === null);
  };
  overview.on(showStarting);
  problem.on(showStarting);
  const showTitle = (): void => {
    const { page } = route.value;
    document.body.dataset["page"] = page;
    const name = overview.value?.ranges.find((card) => card.key === route.value.range)?.range;
    document.title = { overview: "Overview", map: name ? `Map ${name}` : "Map", findings: "Findings" }[page] + " · Berth";
  };
  route.on(showTitle);
  overview.on(showTitle);
}

async function start(): Promise<void> {
  try {
    await untilSignedIn();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return showEnd();
    throw error;
  }
  connection.on((now) => {
    if (now !== "ended") return;
    if (session.value?.mode === "team") location.reload();
    else showEnd();
  });
  startRoute();
  await startLive();
}

build();
start().catch((error: unknown) => problem.set(messageOf(error)));
