/**
 * A server of 2026-07-28 that asks before it answers, makes tasks of its calls, and says what changes:
 * everything that the newer era does in ways of its own.
 */
import type { ServerResponse } from 'node:http';
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveMcp, type Incoming, type Served, type ServeOptions } from './mcp-http.ts';

export interface Asking extends Served {
  /** What became of each task, by its id. */
  tasks(): ReadonlyMap<string, TaskState>;
  /** Lets the task of a call that waits for it come to its end. */
  finish(): void;
  /** How many calls of `hang` began, and how many the client gave up. */
  hung(): { readonly begun: number; readonly stopped: number };
  /** How many streams about a task are open. */
  listeners(): number;
  /** Protocol headers that requests for tasks came with. */
  taskNames(): readonly string[];
}

interface TaskState {
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly tool: string;
  polls: number;
  answer?: unknown;
}

const TASKS = 'io.modelcontextprotocol/tasks';
const PARAMS = z.looseObject({ taskId: z.string() });
const TEXT = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const NAME = {
  message: 'What is your name?',
  requestedSchema: {
    type: 'object' as const,
    properties: { name: { type: 'string' as const } },
    required: ['name'],
  },
};

export interface AskingOptions extends ServeOptions {
  /** How often it wants to be asked after a task, in milliseconds; 100 where it is left out. */
  readonly pollMs?: number;
  /** It tells those who listen when a task is done. */
  readonly pushes?: boolean;
}

export async function startAsking(options: AskingOptions = {}): Promise<Asking> {
  const tasks = new Map<string, TaskState>();
  const taskNames: string[] = [];
  const hung = { begun: 0, stopped: 0 };
  const listening = new Map<ServerResponse, { readonly taskId: string; readonly id: unknown }>();
  let finished = false;

  /** Tells on the stream of whoever listens for a task (2026-07-28, `subscriptions/listen`). */
  function tell(stream: ServerResponse, id: unknown, method: string, params: object): void {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta } };
    stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** The SDK's servers listen for all but tasks. */
  function listenFor(message: Incoming | null, response: ServerResponse): boolean {
    if (message?.method !== 'subscriptions/listen' || !options.pushes) return false;
    const { id, params } = message as unknown as {
      id: unknown;
      params: { notifications: { taskIds?: string[] } };
    };
    const [taskId] = params.notifications.taskIds ?? [];
    if (taskId === undefined) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    listening.set(response, { taskId, id });
    response.on('close', () => listening.delete(response));
    const { notifications } = params;
    tell(response, id, 'notifications/subscriptions/acknowledged', { notifications });
    return true;
  }

  function build(): McpServer {
    const mcp = new McpServer(
      { name: 'asking', version: '1.0.0' },
      {
        capabilities: {
          logging: {},
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          extensions: { [TASKS]: {} },
        },
      },
    );
    const tool = (
      name: string,
      work: (context: ServerContext) => unknown,
      inputSchema = z.looseObject({}),
    ) =>
      mcp.registerTool(
        name,
        { inputSchema },
        (_args: unknown, context: ServerContext) => work(context) as Promise<CallToolResult>,
      );

    tool('greet', ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'who');
      if (answer.kind !== 'elicit')
        return inputRequired({
          inputRequests: { who: inputRequired.elicit(NAME) },
          requestState: 'kept as it is: ünï',
        });
      const { name } = acceptedContent(mcpReq.inputResponses, 'who') ?? {};
      return TEXT(`${answer.action} ${String(name)} ${mcpReq.requestState<string>()}`);
    });

    tool('visit', ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'page');
      if (answer.kind === 'elicit') return TEXT(`visit: ${answer.action}`);
      const page = { message: 'Please pay here.', url: 'https://pay.example/order/1' };
      return inputRequired({ inputRequests: { page: inputRequired.elicitUrl(page) } });
    });

    tool('summarise', ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'words');
      if (answer.kind === 'sampling') return TEXT(JSON.stringify(answer.result));
      const content = { type: 'text' as const, text: 'Sum this up.' };
      const request = { messages: [{ role: 'user' as const, content }], maxTokens: 50 };
      return inputRequired({ inputRequests: { words: inputRequired.createMessage(request) } });
    });

    tool('where', () => inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }));

    tool('again', ({ mcpReq }) =>
      mcpReq.requestState<string>() === 'second'
        ? TEXT('done')
        : inputRequired({ requestState: 'second' }),
    );

    tool('endless', () => inputRequired({ inputRequests: { who: inputRequired.elicit(NAME) } }));

    tool('hang', async ({ mcpReq }) => {
      hung.begun += 1;
      await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
      hung.stopped += 1;
      return TEXT('too late');
    });

    tool('chatty', async ({ mcpReq }) => {
      await mcpReq.log('warning', { key: 'hunter2-hunter2' }, 'kitchen');
      return TEXT('said');
    });

    for (const name of ['job', 'asking_job', 'failing_job', 'waiting_job'])
      tool(name, () => {
        const taskId = crypto.randomUUID();
        tasks.set(taskId, { status: 'working', tool: name, polls: 0 });
        return { resultType: 'task', ...shown(taskId) };
      });

    function shown(taskId: string): Record<string, unknown> {
      const task = tasks.get(taskId);
      const at = new Date(0).toISOString();
      const times = {
        createdAt: at,
        lastUpdatedAt: at,
        ttlMs: 60_000,
        pollIntervalMs: options.pollMs ?? 100,
      };
      const { status = 'failed', polls = 0, answer } = task ?? {};
      const more = {
        working: { statusMessage: `poll ${polls}` },
        input_required: {
          inputRequests: {
            who: { method: 'elicitation/create', params: { mode: 'form', ...NAME } },
          },
        },
        completed: { result: TEXT(`finished ${JSON.stringify(answer ?? null)}`) },
        failed: { error: { code: -32_603, message: 'The oven is broken.' } },
        cancelled: {},
      }[status];
      return { taskId, status, ...times, ...more };
    }

    function step(task: TaskState): void {
      task.polls += 1;
      if (task.status !== 'working') return;
      if (task.tool === 'waiting_job') task.status = finished ? 'completed' : 'working';
      else if (task.tool === 'asking_job' && task.answer === undefined)
        task.status = 'input_required';
      else if (task.polls >= 2) task.status = task.tool === 'failing_job' ? 'failed' : 'completed';
    }

    const { server } = mcp;
    const found = (taskId: string): TaskState => {
      const task = tasks.get(taskId);
      if (!task) throw new ProtocolError(-32_602, 'Task not found');
      return task;
    };
    server.setRequestHandler('tasks/get', { params: PARAMS }, ({ taskId }) => {
      step(found(taskId));
      return shown(taskId);
    });
    server.setRequestHandler('tasks/update', { params: PARAMS }, ({ taskId }, { mcpReq }) => {
      const task = found(taskId);
      task.answer = mcpReq.inputResponses;
      task.status = 'working';
      return {};
    });
    server.setRequestHandler('tasks/cancel', { params: PARAMS }, ({ taskId }) => {
      found(taskId).status = 'cancelled';
      return {};
    });

    mcp.registerPrompt('letter', { argsSchema: { to: z.string() } }, ({ to }, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'who');
      if (!answer) return inputRequired({ inputRequests: { who: inputRequired.elicit(NAME) } });
      const text = `Dear ${to}, yours, ${String(answer.name)}`;
      return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    });
    mcp.registerResource('menu', 'menu://today', {}, async (uri) => ({
      contents: [{ uri: uri.href, text: 'Soup' }],
    }));
    return mcp;
  }

  const served = await serveMcp(build, {
    eras: 'modern',
    ...options,
    before(message, request, response) {
      if (message?.method.startsWith('tasks/'))
        taskNames.push(`${message.method} ${String(request.headers['mcp-name'])}`);
      if (listenFor(message, response)) return true;
      return options.before?.(message, request, response) ?? false;
    },
  });
  return {
    ...served,
    tasks: () => tasks,
    finish: () => {
      finished = true;
      for (const [stream, { taskId, id }] of listening)
        tell(stream, id, 'notifications/tasks', { taskId, status: 'completed' });
    },
    listeners: () => listening.size,
    hung: () => hung,
    taskNames: () => taskNames,
  };
}
