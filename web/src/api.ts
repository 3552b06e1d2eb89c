// What the server tells the page, as JSON. The server makes all of it from src/inspect; the page
// only draws. cmd/berth/ui/*_document.cc writes these documents, and a test there keeps both alike.
//
// All paths are GET and below /ui/v1/. Times are RFC 3339 in UTC, or null. Numbers that may exceed
// 2^53 are decimal text (type Count). A value is the text of an address or a port ("10.96.0.10",
// "fd00::a", "30080"). Errors are {code, message} with that HTTP status.

/** A number of values, as decimal text: a /64 has more than a JavaScript number can hold. */
export type Count = string;
export type Pool = "IPv4" | "IPv6" | "NodePort";
export type Band = "static" | "dynamic";
export type Severity = "note" | "warning" | "critical";
export type Origin = "unknown" | "named" | "drawn";

/** How a cell of the map looks. "outside": no value of the cell belongs to the range. */
export type Mark =
  | "freeStatic" | "free" | "taken" | "namedInDynamic" | "spill" | "reserved" | "cooling" | "twice"
  | "excluded" | "outside";

// --- GET session ---------------------------------------------------------------------------------

export interface Session {
  mode: "local" | "team";
  /** Team mode: who is signed in; null on the sign-in page. */
  user: string | null;
  expires: string | null;
  version: string; // of Berth
}
// Team mode: POST session {"token": "..."} signs in (204, sets the cookie; 401, 403, 429, 503 with a
// message), DELETE session signs out (204). Any other path without a session is 401.

// --- GET overview --------------------------------------------------------------------------------

export interface Overview {
  /** Grows with each view. Other documents carry the seq of the view that they are made from. */
  seq: number;
  source: string; // "https://10.0.0.1:6443", "services.json"
  server: string; // "Kubernetes", "Berth" or "unknown"
  version: string | null; // of that server
  readAt: string;
  live: boolean; // false for a file
  trouble: Trouble | null;
  hasHistory: boolean;
  ranges: RangeCard[]; // what needs attention first
  attention: Attention[]; // the worst first
  serviceCount: number;
  namespaceCount: number;
  namespaces: Holder[]; // those that hold most
  types: Record<string, number>;
  findingCount: number;
  findingSeverity: Severity | null; // the worst
  gaps: Gap[];
}

/** The cluster is not followed at the moment. */
export interface Trouble {
  message: string;
  since: string;
}

export interface RangeCard {
  key: string; // names the range in other requests; opaque
  name: string;
  range: string; // "10.96.0.0/16", "30000-32767"
  kind: string; // "ServiceCIDR", "IPRange", "NodePortRange"
  pool: Pool;
  source: string;
  exact: boolean; // false if the range is only assumed
  open: boolean;
  leaving: boolean;
  strict: boolean;
  first: string;
  last: string;
  size: Count; // all values, usable or not
  usable: Count;
  taken: Count;
  reserved: Count;
  cooling: Count;
  excluded: Count;
  free: Count;
  percentUsed: number;
  staticBand: BandCard;
  dynamicBand: BandCard;
  spill: number | null; // null if unknown
  usedTwice: number;
  withoutService: Count;
  growth: string; // "+12/day", "" if unknown
  growthBasis: string; // a sentence, may be empty
  fullIn: string; // "12 d", "full", "never", "?"
  fullSentence: string; // "full in about 12 days, on ..."; empty if unknown
  severity: Severity | null;
  /** Values in use over time, oldest first, [seconds since 1970, values]; empty without history. */
  trend: [number, number][];
}

export interface BandCard {
  first: string | null; // null if the band is empty
  last: string | null;
  usable: Count;
  taken: Count;
  reserved: Count;
  cooling: Count;
  free: Count;
  percentUsed: number;
  named: number | null;
  drawn: number | null;
}

export interface Attention {
  severity: Severity;
  kind: string;
  range: string | null; // text of the range
  key: string | null; // of the range
  message: string;
  advice: string | null;
}

export interface Holder {
  namespace: string;
  services: number;
  addresses: number;
  ports: number;
}

export interface Gap {
  what: string;
  advice: string | null;
}

// --- GET range?range=KEY -------------------------------------------------------------------------

/** What is drawn on a map beside its cells. Offsets count from the first value of the range. */
export interface RangeDetail extends RangeCard {
  seq: number;
  bits: number; // the map has 2^bits places, the smallest power of 4 that holds the range
  staticPart: Span | null;
  dynamicPart: Span | null;
  exclusions: Span[]; // at most 200
  overlaps: Overlap[]; // other ranges that share values with this one; at most 50
}

export interface Span {
  from: Count; // offset
  to: Count; // offset, inclusive
  first: string; // text of the value
  last: string;
  why: string; // "excluded by the range", "static band"
}

export interface Overlap extends Span {
  key: string;
  label: string;
}

// --- GET tile?range=KEY&bits=B&index=I[&find=TEXT] --------------------------------------------------

/**
 * 4096 cells of 2^B values each. The first one begins at offset I * 4096 * 2^B of the range. In
 * Hilbert order an aligned tile is a square of 64 by 64 cells. B is even.
 */
export interface Tile {
  seq: number;
  bits: number;
  index: Count;
  /** Cells without anything to tell, in runs [first cell, number of cells, mark]. */
  runs: [number, number, Mark][];
  cells: Cell[];
  namespaces: string[]; // what Cell[6] refers to
  types: string[]; // what Cell[7] refers to
}

/**
 * A cell in which something is not free. The numbers of a cell saturate at 2^53.
 * [0] cell, 0 to 4095   [1] mark   [2] values that are not free   [3] usable values
 * [4] named             [5] drawn  [6] the namespace, [7] the type that hold most; -1 if none
 * [8] newest creation, seconds since 1970, 0 if unknown
 * [9] the owner "shop/web" if the cell is one value, else ""   [10] values that match `find`
 */
export type Cell = [number, Mark, number, number, number, number, number, number, number, string, number];

// --- GET table?range=KEY&first=VALUE&last=VALUE[&find=TEXT][&after=VALUE] ---------------------------

/** The values in use of a part of a range, at most 200 at a time. */
export interface Table {
  seq: number;
  total: number;
  rows: TableRow[];
  next: string | null; // give it as `after` for the rows that follow
}

export interface TableRow {
  value: string;
  state: string; // "taken", "reserved", "cooling"
  service: string | null; // "shop/web"
  type: string | null;
  origin: Origin;
  band: Band | null;
  since: string | null;
  mark: Mark;
}

// --- GET details?value=VALUE | ?service=NS/NAME ----------------------------------------------------

export interface Details {
  seq: number;
  title: string; // "10.96.0.10", "shop/web"
  /** Sentences as `berth whois` prints them, with a heading each; in the order to show. */
  facts: { label: string; text: string; tone: "plain" | "good" | "warn" | "bad" | "quiet" }[];
  value: {
    value: string;
    pool: Pool;
    state: string;
    safe: boolean;
    verdict: string; // a sentence
    ranges: { key: string; label: string; band: Band | null }[];
    safeNear: string[];
    below: Neighbour | null;
    above: Neighbour | null;
  } | null;
  services: {
    service: string; // "shop/web"
    namespace: string;
    name: string;
    type: string;
    created: string | null;
    labels: Record<string, string>;
    managedBy: string | null;
    holds: { value: string; pool: Pool; origin: Origin; serves: string; range: string | null; key: string | null }[];
  }[];
  /** Commands that act on it, ready to copy. None is run from here. */
  commands: { title: string; command: string }[];
  /** Its past, the newest first; null without history. */
  history: {
    begin: string | null;
    end: string | null;
    gaps: number;
    spans: {
      owner: string;
      fromEarliest: string | null;
      from: string;
      toEarliest: string | null;
      to: string | null; // null: until now
    }[];
  } | null;
}

export interface Neighbour {
  value: string;
  service: string;
}

// --- GET search?q=TEXT -----------------------------------------------------------------------------

export interface Search {
  seq: number;
  hits: Hit[]; // at most 50, the best first
  more: number;
}

export interface Hit {
  kind: "value" | "service" | "namespace" | "range" | "part" | "label";
  title: string;
  text: string; // a second line: "taken by shop/web, in 10.96.0.0/16"
  value: string | null; // to open details of
  service: string | null; // to open details of
  key: string | null; // of the range to show
  first: string | null; // the part of that range to show
  last: string | null;
  find: string | null; // to highlight on the map and filter the table
}

// --- GET whatif?range=KEY&to=TEXT[&to=TEXT] ---------------------------------------------------------

/** What would be if the range were TO (a CIDR or ports). Nothing is changed. */
export interface WhatIf {
  seq: number;
  /** Why TO cannot be, in a sentence; then the rest is empty. */
  error: string | null;
  now: Future;
  then: Future | null;
  blockerCount: number;
  blockers: {
    value: string;
    service: string | null;
    effort: "easy" | "medium" | "hard";
    why: string;
    advice: string;
  }[]; // at most 100, the hardest first
  outcome: string; // a sentence: what the server would do
  notes: string[]; // sentences, such as that the other family needs a range too
  commands: { title: string; command: string }[]; // kubectl commands or a manifest
}

export interface Future {
  range: string;
  size: Count;
  usable: Count;
  free: Count;
  percentUsed: number;
  staticFirst: string | null;
  staticLast: string | null;
  dynamicFirst: string | null;
  dynamicLast: string | null;
  dynamicFree: Count;
  fullIn: string;
}

// --- GET findings ----------------------------------------------------------------------------------

/** What `berth verify` and checks like those of `berth lint` find on what runs. */
export interface Findings {
  seq: number;
  groups: {
    kind: string; // "TwoOwners", "NamedInDynamicBand"
    title: string;
    severity: Severity;
    why: string;
    count: number;
    items: { message: string; advice: string; value: string | null; service: string | null; key: string | null }[]; // at most 100
  }[];
}

// --- GET events (Server-Sent Events) -----------------------------------------------------------------
//
//   event: view     data: View     a new view; comes first, and after each change (at most 2 a second)
//   event: trouble  data: Trouble  the cluster is not followed any more
//   event: well     data: {}       it is followed again
//   event: bye      data: {}       the server ends
// A comment comes every 15 seconds. A new stream after a lost one begins with `view` again; if its
// seq is not the one that the page has, the page loads everything anew.

export interface View {
  seq: number;
  readAt: string;
  /** What changed since the view before, at most 200. */
  changes: Change[];
  more: number; // changes that are not listed
}

export interface Change {
  value: string;
  pool: Pool;
  what: "taken" | "released" | "changed";
  service: string | null; // the owner now, or before the release
  keys: string[]; // of the ranges that have the value
  offsets: Count[]; // of the value in these ranges
}
