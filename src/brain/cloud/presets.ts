/**
 * The ways to a cloud model that the app knows by name. Model ids are the providers' own standing
 * aliases where there are such, so that they do not age.
 */
import type { CloudPreset } from './types.ts';

/** The address that a server of one's own must let in, where there is a page at all. */
function ownOrigin(): string {
  return globalThis.location?.origin ?? 'https://this-app';
}

export const OTHER = 'other';

export function cloudPresets(): readonly CloudPreset[] {
  return [
    {
      id: 'openrouter',
      label: 'OpenRouter',
      kind: 'openai',
      baseUrl: 'https://openrouter.ai/api/v1',
      needsKey: true,
      signIn: true,
      tellsCost: true,
      defaultModel: 'openrouter/auto',
      contextTokens: 128_000,
      keyUrl: 'https://openrouter.ai/settings/keys',
    },
    {
      id: 'openai',
      label: 'OpenAI',
      kind: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      needsKey: true,
      signIn: false,
      defaultModel: 'gpt-5.6-luna',
      contextTokens: 272_000,
      keyUrl: 'https://platform.openai.com/api-keys',
      hint: 'OpenAI does not let every browser in. If it stays so, use its models through OpenRouter.',
    },
    {
      id: 'anthropic',
      label: 'Anthropic',
      kind: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      needsKey: true,
      signIn: false,
      defaultModel: 'claude-sonnet-5-5',
      contextTokens: 200_000,
      keyUrl: 'https://platform.claude.com/settings/keys',
      hint: 'Some organisations switch off requests from browsers: ask its administrator, or use OpenRouter.',
    },
    {
      id: 'gemini',
      label: 'Google Gemini',
      kind: 'gemini',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
      needsKey: true,
      signIn: false,
      defaultModel: 'gemini-flash-latest',
      contextTokens: 1_000_000,
      keyUrl: 'https://aistudio.google.com/apikey',
    },
    {
      id: 'mistral',
      label: 'Mistral',
      kind: 'openai',
      baseUrl: 'https://api.mistral.ai/v1',
      needsKey: true,
      signIn: false,
      defaultModel: 'mistral-medium-latest',
      contextTokens: 128_000,
      keyUrl: 'https://console.mistral.ai/api-keys',
    },
    {
      id: 'ollama',
      label: 'Ollama',
      kind: 'openai',
      baseUrl: 'http://localhost:11434/v1',
      needsKey: false,
      signIn: false,
      defaultModel: 'qwen3:8b',
      contextTokens: 16_384,
      hint: `Start Ollama with OLLAMA_ORIGINS=${ownOrigin()} so that it lets this app in, and with OLLAMA_CONTEXT_LENGTH=16384 so that it does not cut the conversation.`,
    },
    {
      id: 'lmstudio',
      label: 'LM Studio',
      kind: 'openai',
      baseUrl: 'http://localhost:1234/v1',
      needsKey: false,
      signIn: false,
      defaultModel: 'qwen/qwen3-8b',
      contextTokens: 8_192,
      hint: 'Start its server with lms server start --cors so that it lets this app in.',
    },
    {
      id: 'llamacpp',
      label: 'llama.cpp',
      kind: 'openai',
      baseUrl: 'http://localhost:8080/v1',
      needsKey: false,
      signIn: false,
      defaultModel: 'default',
      contextTokens: 8_192,
      hint: 'Start llama-server with --jinja so that it can call tools, and with -c 8192 or more.',
    },
    {
      id: OTHER,
      label: 'Other (OpenAI-compatible)',
      kind: 'openai',
      baseUrl: '',
      needsKey: false,
      signIn: false,
      defaultModel: '',
      contextTokens: 32_768,
    },
  ];
}
