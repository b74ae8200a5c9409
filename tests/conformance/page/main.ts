/** The driver on a page: Node hands it scenarios, and follows addresses for it. */
import { play, type Job } from '../driver.ts';

declare global {
  var playScenario: (job: Job) => Promise<readonly string[]>;
  var visitOutside: (url: string) => Promise<string>;
}

globalThis.playScenario = (job) => play(job, { visit: globalThis.visitOutside });
