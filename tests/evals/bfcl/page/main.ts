/** A page on which the app's own models answer single questions; nothing here but src/brain. */
import type { BrainUsage, ToolChoice, ToolSpec } from '../../../../src/brain/brain.ts';
import { createModels } from '../../../../src/brain/local/models.ts';
import { openStore } from '../../../../src/store/open.ts';
import type { MadeCall } from '../check.ts';

export interface Question {
  readonly model: string;
  readonly words: string;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  /** As in a request of the app: how well the best of the tools fits. */
  readonly match?: number;
}

export interface WrittenCall extends MadeCall {
  /** As the model wrote it, and what was put right in it. */
  readonly raw: string;
  readonly mended?: string;
}

export interface Reply {
  readonly calls: readonly WrittenCall[];
  /** The beginning of what was said where nothing was called. */
  readonly text: string;
  readonly usage: BrainUsage;
  /** Why it called, or did not, where the odds decided. */
  readonly decision?: string;
  /** Set where the model failed. */
  readonly error?: string;
}

export interface Evaluation {
  /** Ids and labels of the models beside the app that can run here. */
  models(): Promise<readonly { readonly id: string; readonly label: string }[]>;
  /** Resolves when the model is stored. */
  fetch(model: string): Promise<void>;
  ask(question: Question): Promise<Reply>;
  unload(): Promise<void>;
}

declare global {
  interface Window {
    readonly evaluation: Promise<Evaluation>;
  }
}

/** Characters after which a text is no longer listened to: no call follows a text. */
const ENOUGH = 12;

const NOW = 'Sunday 2026-11-29 14:05, Asia/Kolkata';

async function start(): Promise<Evaluation> {
  const store = await openStore();
  const models = createModels({ store, publicRows: async () => [] });
  return {
    async models() {
      const views = await models.list();
      return views.map(({ row: { id, label } }) => ({ id, label }));
    },
    async fetch(model) {
      await models.download(model);
      const view = (await models.list()).find(({ row }) => row.id === model);
      if (view?.status.kind !== 'ready')
        throw new Error(`${model} could not be stored: ${JSON.stringify(view?.status)}`);
    },
    async ask({ model, words, tools, toolChoice, match }) {
      const brain = await models.brain(model);
      if (!brain) throw new Error(`${model} is not stored.`);
      const calls: WrittenCall[] = [];
      let text = '';
      let usage: BrainUsage = {};
      let error: string | undefined;
      let decision: string | undefined;
      const events = brain.stream(
        {
          system: '',
          now: NOW,
          messages: [{ role: 'user', text: words }],
          tools,
          toolChoice,
          ...(match === undefined ? {} : { match }),
          maxTokens: 200,
        },
        new AbortController().signal,
      );
      for await (const event of events) {
        if (event.type === 'text') text += event.text;
        if (event.type === 'call') {
          const { name, args, raw, mended } = event.call;
          calls.push({ name, args, raw, ...(mended === undefined ? {} : { mended }) });
        }
        if (event.type === 'decision') decision = event.text;
        if (event.type === 'usage') ({ usage } = event);
        if (event.type === 'end' && event.reason === 'error') error = event.error.message;
        if (text.length > ENOUGH) break;
      }
      return {
        calls,
        text,
        usage,
        ...(decision === undefined ? {} : { decision }),
        ...(error === undefined ? {} : { error }),
      };
    },
    unload: () => models.unload(),
  };
}

Object.defineProperty(window, 'evaluation', { value: start() });
