import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Operation, operations } from '@runwire/contract/schemas';
import { fastify } from 'fastify';
import { route } from './route.ts';

const { getIntegration, updateIntegration, createAgencyUpload } = operations;

test('refuses to register an operation with an integration that is not checked', () => {
  const inQuery: Operation = { ...getIntegration, query: getIntegration.params };
  const inReference: Operation = { ...updateIntegration, body: createAgencyUpload.body };
  const inBody: Operation = { ...updateIntegration, body: updateIntegration.params };
  for (const fault of [inQuery, inReference, inBody])
    assert.throws(
      () => route(fastify(), fault, async () => ''),
      new RegExp(`^Error: ${fault.operationId} must name its integration once`),
    );
});
