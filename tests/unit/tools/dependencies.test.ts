import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  auditLock,
  readAudit,
  type Lock,
  type LockedPackage,
  type Manifest,
} from '../../../tools/dependencies.ts';

const SOUND: LockedPackage = { version: '1.2.3', integrity: 'sha512-AAAA', license: 'MIT' };
const lockOf = (it: LockedPackage, place = 'node_modules/one'): Lock => ({
  packages: { '': {}, [place]: it },
});

describe('the audit of what Deft is made of', () => {
  it('finds nothing wrong with this project', () => {
    const read = (name: string): unknown => JSON.parse(readFileSync(name, 'utf8'));
    expect(auditLock(read('package.json') as Manifest, read('package-lock.json') as Lock)).toEqual(
      [],
    );
  });

  it('wants every version exact', () => {
    const wanted = {
      dependencies: { one: '1.2.3', two: '^1.2.3' },
      devDependencies: { three: '*' },
    };
    expect(auditLock(wanted, { packages: {} })).toEqual([
      'two is not pinned: "^1.2.3" is a range.',
      'three is not pinned: "*" is a range.',
    ]);
  });

  it('wants a hash that cannot be forged, also of what only tests use', () => {
    const { integrity: _, ...without } = SOUND;
    expect(auditLock({}, lockOf({ ...without, dev: true }))).toHaveLength(1);
    expect(auditLock({}, lockOf({ ...SOUND, integrity: 'sha1-AAAA' }))).toHaveLength(1);
    expect(auditLock({}, lockOf(SOUND))).toEqual([]);
  });

  it('lets no package run a script at installation but those that are known to need it', () => {
    const runs = { ...SOUND, hasInstallScript: true };
    expect(auditLock({}, lockOf(runs))).toEqual([
      'node_modules/one runs a script when it is installed.',
    ]);
    expect(auditLock({}, lockOf(runs, 'node_modules/a/node_modules/esbuild'))).toEqual([]);
  });

  it('lets only licences into the app that allow it', () => {
    const gpl = { ...SOUND, license: 'GPL-3.0' };
    expect(auditLock({}, lockOf(gpl))).toHaveLength(1);
    expect(auditLock({}, lockOf({ ...gpl, dev: true }))).toEqual([]);
  });
});

describe('the answer of npm audit', () => {
  it('is counted, or said to be missing', () => {
    const vulnerabilities = { low: 4, high: 2, critical: 1 };
    expect(readAudit(JSON.stringify({ metadata: { vulnerabilities } }))).toEqual({
      asked: true,
      serious: 3,
    });
    expect(readAudit(JSON.stringify({ message: '405 Method Not Allowed' }))).toEqual({
      asked: false,
      why: '405 Method Not Allowed',
    });
    expect(readAudit('')).toMatchObject({ asked: false });
  });
});
