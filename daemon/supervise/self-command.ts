/**
 * How to start this memsync again from anywhere. A compiled binary: the binary. Otherwise: the
 * runtime with its options, and the program, which is the package's build or a checkout's source.
 * The package's launcher is left out, since it would only wait beside the program.
 */
export function selfCommand(): string[] {
  if (isCompiled(Bun.main)) return [process.execPath];
  return [process.execPath, ...process.execArgv.filter(isForEvery), Bun.main];
}

/** Where Bun shows the files inside of a compiled binary. */
function isCompiled(main: string): boolean {
  return main.startsWith("/$bunfs/") || /^[A-Z]:[\\/]~BUN[\\/]/i.test(main);
}

/** Options for a single process, such as a debugger's, are not passed on. */
function isForEvery(option: string): boolean {
  return !/^--(inspect|watch|hot)/.test(option);
}
