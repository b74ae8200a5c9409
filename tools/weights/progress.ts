/** Shows how far a step is: a bar that redraws itself on a terminal, a few plain lines elsewhere. */

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /** Hears how far the step is, from 0 to 1. */
  (fraction: number): void;
}

const BAR_WIDTH = 24;
/** Off a terminal, a line is written each time another part of this size is done. */
const LINE_EVERY = 0.25;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Runs one step under a name and shows its progress; nothing stays on the terminal but its name and
 * how long it took.
 */
export async function showStep<T>(
  name: string,
  run: (progress: Progress) => Promise<T>,
  { log, terminal }: { log: (line: string) => void; terminal: Terminal },
): Promise<T> {
  const started = performance.now();
  let shown = -1;
  if (!terminal.isTTY) log(`${name} …`);
  const progress = (fraction: number) => {
    const done = Math.min(1, Math.max(0, fraction));
    if (terminal.isTTY) {
      const percent = Math.floor(done * 100);
      if (percent === shown) return;
      shown = percent;
      const full = Math.round(done * BAR_WIDTH);
      const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
      const line = `${bar} ${String(percent).padStart(3)} %  ${name}`;
      terminal.write(CLEAR_LINE + line.slice(0, (terminal.columns ?? 80) - 1));
      return;
    }
    const part = Math.floor(done / LINE_EVERY);
    if (part > Math.max(shown, 0) && done < 1) log(`${name}: ${part * LINE_EVERY * 100} %`);
    shown = Math.max(shown, part);
  };
  try {
    progress(0);
    const result = await run(progress);
    if (terminal.isTTY) terminal.write(CLEAR_LINE);
    log(`${name}: done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return result;
  } catch (error) {
    if (terminal.isTTY) terminal.write(CLEAR_LINE);
    throw error;
  }
}
