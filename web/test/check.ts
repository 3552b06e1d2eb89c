// A few lines that run the tests of the pure parts, without a browser.

let failures = 0;
let count = 0;

declare const process: { exitCode: number };
declare const console: { log(text: string): void };

export function test(name: string, body: () => void): void {
  count++;
  try {
    body();
  } catch (error) {
    failures++;
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function equal(actual: unknown, expected: unknown): void {
  const print = (value: unknown): string =>
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${part}n` : part) as unknown);
  if (print(actual) !== print(expected)) throw new Error(`${print(actual)} is not ${print(expected)}`);
}

export function report(): void {
  console.log(failures === 0 ? `${count} tests of the page pass` : `${failures} of ${count} tests fail`);
  process.exitCode = failures === 0 ? 0 : 1;
}
