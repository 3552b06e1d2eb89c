// A value that can be watched.

export class Signal<T> {
  private readonly listeners = new Set<(value: T, before: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    const before = this.current;
    this.current = value;
    for (const listener of [...this.listeners]) listener(value, before);
  }

  /** Calls the listener at each change, until the returned function is called. */
  on(listener: (value: T, before: T) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
