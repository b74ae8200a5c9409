import { expect, test } from 'vitest';
import { findDocument } from '../../../src/mcp/auth/client.ts';
import { clientMetadataFile } from '../../../tools/client-metadata.ts';

test('a build for a public address has the document that makes this address a client id', async () => {
  const file = clientMetadataFile('https://deft.example');
  expect(file?.fileName).toBe('client-metadata.json');
  const served: typeof fetch = () => Promise.resolve(new Response(file?.source));
  expect(await findDocument('https://deft.example', served)).toBe(
    'https://deft.example/client-metadata.json',
  );
  // Served from elsewhere, as of a copy of the build, it is not believed.
  expect(await findDocument('https://copy.example', served)).toBeUndefined();
});

test('a build without an address has none, and what is no address is refused', () => {
  expect(clientMetadataFile(undefined)).toBeNull();
  for (const wrong of ['deft.example', 'http://deft.example', 'https://deft.example/app'])
    expect(() => clientMetadataFile(wrong)).toThrow('DEFT_ORIGIN');
});
