/**
 * What a cloud model costs, counted where its answer arrives: whoever asked, it is in the day's sum,
 * also where the answer was stopped.
 */
import type { Brain, BrainEvent, BrainUsage } from '../brain.ts';
import type { TokenPrice } from '../../store/records.ts';

/**
 * What an answer cost, in US dollars: as its provider says, or by the price; undefined where neither
 * is known. Tokens out of a cache are counted like others, so it is rather too much than too little.
 */
export function costOf(usage: BrainUsage, price: TokenPrice | undefined): number | undefined {
  if (usage.cost !== undefined || !price) return usage.cost;
  const { promptTokens = 0, outputTokens = 0 } = usage;
  return (promptTokens * price.input + outputTokens * price.output) / 1e6;
}

/** The same brain, whose answers are counted; `spend` gets US dollars, once an answer. */
export function counted(
  brain: Brain,
  price: TokenPrice | undefined,
  spend: (cost: number) => Promise<void>,
): Brain {
  return {
    ...brain,
    async *stream(request, signal): AsyncIterable<BrainEvent> {
      let usage: BrainUsage = {};
      try {
        for await (const event of brain.stream(request, signal)) {
          if (event.type === 'usage') usage = { ...usage, ...event.usage };
          const cost = event.type === 'end' ? costOf(usage, price) : undefined;
          if (cost !== undefined && usage.cost === undefined)
            yield { type: 'usage', usage: { ...usage, cost } };
          yield event;
        }
      } finally {
        const cost = costOf(usage, price);
        // An answer is not lost because its price found no room.
        if (cost) await spend(cost).catch(() => undefined);
      }
    },
  };
}
