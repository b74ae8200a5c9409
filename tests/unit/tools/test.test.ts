import { describe, expect, it } from 'vitest';
import {
  benchTally,
  conformanceTally,
  honest,
  playwrightTally,
  vitestTally,
} from '../../../tools/test.ts';

describe('the sum over all runners', () => {
  it('counts a file that did not load as a failure', () => {
    const report = {
      numPassedTests: 4,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        { status: 'passed', assertionResults: [{}] },
        { status: 'failed', assertionResults: [{}] },
        { status: 'failed', assertionResults: [] },
      ],
    };
    expect(vitestTally(report)).toEqual({ passed: 4, failed: 2, skipped: 2 });
  });

  it('takes an error outside of tests for a failure, and tells what passed only when tried again', () => {
    const stats = { expected: 5, unexpected: 1, flaky: 1, skipped: 2 };
    expect(playwrightTally({ stats, errors: [{}] })).toEqual({
      passed: 6,
      failed: 2,
      skipped: 2,
      again: 1,
    });
    expect(playwrightTally({ stats: { ...stats, flaky: 0 }, errors: [] })).toEqual({
      passed: 5,
      failed: 1,
      skipped: 2,
    });
  });

  it('counts each scenario of the conformance suite where it was played', () => {
    const cases = [{ passed: true }, { passed: true }, { passed: false }];
    expect(conformanceTally({ cases })).toEqual({ passed: 2, failed: 1, skipped: 0 });
  });

  it('counts the figures that were measured, and those that could not be', () => {
    const figures = { 'shell.gzipBytes': 1, 'list.smoothFrames': 0 };
    expect(benchTally({ figures, missing: ['overhead.webllm'] })).toEqual({
      passed: 2,
      failed: 1,
      skipped: 0,
    });
  });

  it('never takes a runner that crashed, or ran nothing, for a success', () => {
    expect(honest({ passed: 9, failed: 0, skipped: 0 }, 1).failed).toBe(1);
    expect(honest({ passed: 0, failed: 0, skipped: 0 }, 0).failed).toBe(1);
    expect(honest({ passed: 9, failed: 2, skipped: 0 }, 1).failed).toBe(2);
    expect(honest({ passed: 9, failed: 0, skipped: 1 }, 0).failed).toBe(0);
  });
});
