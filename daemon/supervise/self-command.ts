/**
 * How to start this memsync again from anywhere: a compiled binary by itself; otherwise the
 * runtime, with the options that it was given, and the program, be it the package's build or a
 * checkout's source. The package's launcher stays out of it: it would only wait beside the program.
 */
export function selfCommand(): string[] {
  if (isCompiled(Bun.main)) return [process.execPath];
  return [process.execPath, ...process.execArgv.filter(isForEvery), Bun.main];
}

/** Where Bun shows the files inside a compiled binary. */
function isCompiled(main: string): boolean {
  return main.startsWith("/$bunfs/") || /^[A-Z]:[\\/]~BUN[\\/]/i.test(main);
}

/** What is about one process of a developer, such as a debugger, is not passed on. */
function isForEvery(option: string): boolean {
  return !/^--(inspect|watch|hot)/.test(option);
}
