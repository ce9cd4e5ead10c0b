const watchers = new WeakMap<Request, (bytes: Uint8Array) => void>();

/** Called with the body of `request`, once it is read, before anything is made of it. */
export function watchBody(request: Request, onRead: (bytes: Uint8Array) => void): void {
  watchers.set(request, onRead);
}

/** `copy` is read in place of `request`. */
export function watchCopy(request: Request, copy: Request): void {
  const watcher = watchers.get(request);
  if (watcher) watchers.set(copy, watcher);
}

/** Tells the watcher of `request` its body. True: there is one, who may have kept the bytes. */
export function bodyRead(request: Request, bytes: Uint8Array): boolean {
  const watcher = watchers.get(request);
  watcher?.(bytes);
  return watcher !== undefined;
}
