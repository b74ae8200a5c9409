/** Makes the brain of an account: its provider's wire, and the network around it. */
import type { Brain, BrainInfo } from '../brain.ts';
import type { CloudAccount, CloudKind } from '../../store/records.ts';
import { anthropicWire } from './anthropic.ts';
import type { Peer } from './errors.ts';
import { geminiWire } from './gemini.ts';
import { openaiWire } from './openai.ts';
import { seesPictures } from './sight.ts';
import { cloudBrain, type Net } from './stream.ts';
import type { CloudPreset } from './types.ts';
import { Echoes, type Target, type Wire } from './wire.ts';

const WIRES: Readonly<Record<CloudKind, (target: Target, echoes: Echoes) => Wire>> = {
  openai: openaiWire,
  anthropic: anthropicWire,
  gemini: geminiWire,
};

/** Large models tell this many tools apart well. */
const MAX_TOOLS = 48;

/** `key` is empty where the host wants none. */
export function makeBrain(
  account: CloudAccount,
  key: string,
  preset: CloudPreset,
  net: Net,
): Brain {
  const info: BrainInfo = {
    id: `cloud:${account.id}:${account.model}`,
    place: 'cloud',
    model: account.model,
    label: `${account.model}, ${account.label}`,
    contextTokens: account.contextTokens,
    maxTools: MAX_TOOLS,
    can: { tools: true, images: seesPictures(account), schema: true },
  };
  const peer: Peer = {
    name: account.label,
    url: new URL(account.baseUrl),
    model: account.model,
    preset: account.preset,
    secrets: key ? [key] : [],
    ...(preset.hint ? { hint: preset.hint } : {}),
  };
  const echoes = new Echoes();
  const target = { baseUrl: account.baseUrl, model: account.model, key };
  return cloudBrain(info, WIRES[account.kind](target, echoes), peer, net, echoes);
}
