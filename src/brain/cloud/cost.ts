/**
 * What a cloud model costs, counted where its answer arrives: whoever asked, it is in the day's sum. Of
 * an answer that was stopped or broke off, what its provider did not tell is estimated by the price;
 * where there is no price either, it is not known and not counted.
 */
import type { Brain, BrainEvent, BrainRequest, BrainUsage } from '../brain.ts';
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

/** All that a model reads of a request, but its pictures. */
const readOf = ({ system, now, messages, tools }: BrainRequest): string =>
  JSON.stringify([system, now, messages, tools], (key, value: unknown) =>
    key === 'images' ? undefined : value,
  );

/** What an answer that did not come to its end has used at least. */
function usedBy(
  brain: Brain,
  request: BrainRequest,
  { promptTokens, outputTokens = 0, ...usage }: BrainUsage,
  written: string,
): BrainUsage {
  return {
    ...usage,
    promptTokens: promptTokens ?? brain.countTokens(readOf(request)),
    outputTokens: Math.max(outputTokens, brain.countTokens(written)),
  };
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
      /** What it has written so far: a host that refused has written, and costs, nothing. */
      let written = '';
      let isWhole = false;
      const spent = (): number | undefined =>
        costOf(isWhole || !written ? usage : usedBy(brain, request, usage, written), price);
      try {
        for await (const event of brain.stream(request, signal)) {
          if (event.type === 'usage') usage = { ...usage, ...event.usage };
          if (event.type === 'text' || event.type === 'thinking') written += event.text;
          if (event.type === 'call') written += event.call.raw;
          if (event.type === 'end')
            isWhole = event.reason !== 'aborted' && event.reason !== 'error';
          const cost = event.type === 'end' ? spent() : undefined;
          if (cost !== undefined && usage.cost === undefined) {
            usage = { ...usage, cost };
            yield { type: 'usage', usage };
          }
          yield event;
        }
      } finally {
        const cost = usage.cost ?? spent();
        // An answer is not lost because its price found no room.
        if (cost) await spend(cost).catch(() => undefined);
      }
    },
  };
}
