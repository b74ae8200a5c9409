/**
 * Skills of a server (SEP-2640): instructions in files that it lists with their sizes and digests.
 * Promise: to list reads none of them, and what is read is what the list says of it.
 */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import type { SkillDefinition, SkillFile } from './types.ts';

type Listing = Awaited<ReturnType<SkillsClient['list']>>['skills'];

export interface Skills {
  list(options: RequestOptions): Promise<readonly SkillDefinition[]>;
  read(uri: string, file: string | undefined, options: RequestOptions): Promise<SkillFile>;
}

export function createSkills(client: Client): Skills {
  const skills = new SkillsClient(client, { skipInvalid: true });
  let listed: Listing = [];
  return {
    async list(options) {
      if (!skills.supported) return [];
      ({ skills: listed } = await skills.list({}, options));
      return listed.map(({ uri, frontmatter, resources }) => ({
        uri,
        name: String(frontmatter.name ?? uri),
        description: String(frontmatter.description ?? ''),
        files: Array.isArray(resources) ? resources.map((file) => file.uri) : [],
      }));
    },

    async read(uri, file, options) {
      const skill =
        listed.find((entry) => entry.uri === uri) ?? (await skills.get(uri, options)).skill;
      const { uri: at, mimeType, text, bytes } = await skills.read(skill, file, options);
      return {
        uri: at,
        bytes,
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(text === undefined ? {} : { text }),
      };
    },
  };
}
