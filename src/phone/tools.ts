/** The phone's own tools, as they are published: data alone, so that they can be offered at once. */
import type { ToolDefinition } from '../store/records.ts';

const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false } as const;

export const SET_REMINDER: ToolDefinition = {
  name: 'set_reminder',
  title: 'Set a reminder',
  description: 'Remind the user of something at a time.',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to remind of.', minLength: 1, maxLength: 500 },
      at: { type: 'string', format: 'date-time', description: 'Day and time.' },
    },
    required: ['text', 'at'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

export const NOW: ToolDefinition = {
  name: 'now',
  title: 'Date and time',
  description: 'Get the current date, time and time zone.',
  inputSchema: NO_ARGUMENTS,
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const DEVICE_STATUS: ToolDefinition = {
  name: 'device_status',
  title: 'Status of the phone',
  description: "Get the phone's network, battery and free storage.",
  inputSchema: NO_ARGUMENTS,
  annotations: { readOnlyHint: true, openWorldHint: false },
};
