// Asks the server. Every failure is an ApiError with a sentence for the reader.

import type { Details, Findings, Overview, RangeDetail, Search, Session, Table, Tile, WhatIf } from "./api";
import { Signal } from "./signal";

export class ApiError extends Error {
  /** The HTTP status; 0 if the server did not answer. */
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** Grows when the server no longer knows this page: a new link or a new sign-in is needed. */
export const strangers = new Signal(0);

const BASE = "/ui/v1/";
type Params = Record<string, string | null | undefined>;

async function ask<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.append(name, value);
  }
  const text = query.toString();
  const response = await send(BASE + path + (text === "" ? "" : "?" + text), signal ? { signal } : {});
  if (!response.ok) throw await failure(response);
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "The answer of the server ended too early.");
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { cache: "no-store", credentials: "same-origin", ...init });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "The server does not answer.");
  }
}

async function failure(response: Response): Promise<ApiError> {
  let message = `The server answered with status ${response.status}.`;
  try {
    const body = (await response.json()) as { message?: unknown };
    if (typeof body.message === "string" && body.message !== "") message = sentence(body.message);
  } catch {
    // An answer without a message keeps the sentence above.
  }
  if (response.status === 401) strangers.set(strangers.value + 1);
  return new ApiError(response.status, message);
}

/** Makes a message of the server a sentence: a capital first, a full stop last. */
export function sentence(message: string): string {
  // Names, values and commands are written as they are.
  const [first = ""] = message.split(/[ ,.:]/, 1);
  const isWord = /^[a-z]+$/.test(first) && first !== "berth" && first !== "kubectl";
  const text = isWord ? message.slice(0, 1).toUpperCase() + message.slice(1) : message;
  return /[.!?:]$/.test(text) ? text : text + ".";
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const getSession = (): Promise<Session> => ask("session");
export const getOverview = (): Promise<Overview> => ask("overview");
export const getFindings = (): Promise<Findings> => ask("findings");
export const getRange = (range: string): Promise<RangeDetail> => ask("range", { range });

export function getTile(
  range: string, bits: number, index: bigint, find: string, signal: AbortSignal,
): Promise<Tile> {
  return ask("tile", { range, bits: String(bits), index: index.toString(), find }, signal);
}

export interface TableQuery {
  range: string;
  first?: string | null;
  last?: string | null;
  find?: string;
  after?: string | null;
}

export function getTable(query: TableQuery, signal?: AbortSignal): Promise<Table> {
  return ask("table", { ...query }, signal);
}

export function getDetails(of: { value: string } | { service: string }, signal?: AbortSignal): Promise<Details> {
  return ask("details", of, signal);
}

export function getSearch(q: string, signal: AbortSignal): Promise<Search> {
  return ask("search", { q }, signal);
}

export function getWhatIf(range: string, to: string, signal: AbortSignal): Promise<WhatIf> {
  return ask("whatif", { range, to }, signal);
}

export async function signIn(token: string): Promise<void> {
  const response = await send(BASE + "session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!response.ok) throw await failure(response);
}

export async function signOut(): Promise<void> {
  const response = await send(BASE + "session", { method: "DELETE" });
  if (!response.ok) throw await failure(response);
}

/** Repeats a question while the server has no answer yet (503), and says each time why. */
export async function patiently<T>(question: () => Promise<T>, wait: (message: string) => void): Promise<T> {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 503 && error.status !== 0)) throw error;
      wait(error.message);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
