/** What cloud models have cost in a day, against the limit that the person set; in US dollars. */
import type { Settings, TurnLimits } from '../store/records.ts';
import { clockLine } from './prompt.ts';

/** The day of a moment in a time zone, as YYYY-MM-DD. */
export const dayOf = (ms: number, timeZone: string): string =>
  clockLine(ms, timeZone).split(' ')[1] ?? '';

export const spentOn = ({ spent }: Pick<Settings, 'spent'>, day: string): number =>
  spent?.day === day ? spent.cost : 0;

/** A sentence where the limit is reached; `granted` is what was spent when Continue was last said. */
export function reachedCost(limits: TurnLimits, spent: number, granted: number): string | null {
  const { dayCost = Infinity } = limits;
  if (spent - granted < dayCost) return null;
  return `Cloud models have cost $${spent.toFixed(2)} today, so I stopped.`;
}

/** The same for what is no turn and asks for no Continue: a summary, a server's question. */
export function reachedOn(
  settings: Pick<Settings, 'spent' | 'limits'>,
  day: string,
): { readonly message: string; readonly advice: string } | null {
  const message = reachedCost(settings.limits, spentOn(settings, day), 0);
  if (message === null) return null;
  return {
    message,
    advice: 'Raise the limit of the day in the settings, or use the model on this phone.',
  };
}
