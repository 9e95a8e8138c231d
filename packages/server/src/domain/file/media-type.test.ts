import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeProblem, safeMediaType } from './media-type.ts';

test('accepts type/subtype with parameters, in any case, with spaces around `;`', () => {
  for (const good of [
    'image/png',
    'Image/PNG',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'image/svg+xml',
    'text/plain; charset=utf-8',
    'text/plain;charset="utf-8"',
    'text/plain ; charset=utf-8 ; format=flowed',
    'text/plain;',
    'text/plain; ;a=b',
    'multipart/form-data; boundary="a;b\\"c d"',
    `a/${'b'.repeat(253)}`,
  ]) {
    assert.equal(mediaTypeProblem(good), null, good);
  }
});

test('refuses outer white space, control characters, non-ASCII and incomplete types', () => {
  for (const bad of [
    '',
    ' ',
    'image',
    'image/',
    '/png',
    'image/png/x',
    'image /png',
    'image/ png',
    ' image/png',
    'image/png ',
    'image/png, image/gif',
    'image/png; charset',
    'image/png; charset=',
    'image/png; =utf-8',
    'image/png; charset = utf-8',
    'image/png; charset="utf-8',
    'image/png; a="\t"',
    'image/png; a="é"',
    'imagé/png',
    'image/png\r\nX-Evil: 1',
    'image/png\n',
    'image/png\0',
    '<script>/x',
    `a/${'b'.repeat(254)}`,
  ]) {
    assert.match(mediaTypeProblem(bad) ?? 'none', /^must be /, JSON.stringify(bad));
  }
});

test('refuses a long, almost valid text quickly', () => {
  const began = performance.now();
  for (const part of ['; ', ';  ', ' ;', '; a=b ', '; a="\\"', ';a=b']) {
    assert.notEqual(mediaTypeProblem(`a/b${part.repeat(250)}`.slice(0, 253).concat('é')), null, part);
  }
  assert.ok(performance.now() - began < 5000);
});

test('browsers get bytes only as types that they do not execute', () => {
  for (const type of ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf']) {
    assert.equal(safeMediaType(type.toUpperCase()), type);
  }
  for (const type of ['text/plain', 'text/plain; charset=utf-8', 'text/plain;charset="UTF-8"']) {
    assert.equal(safeMediaType(type), 'text/plain; charset=utf-8');
  }
  assert.equal(safeMediaType('text/csv'), 'text/csv; charset=utf-8');
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/javascript',
    'application/json',
    'text/plain; charset=utf-7',
    'image/png; a=b',
    'text/plain, text/html',
    'multipart/x-mixed-replace',
    '',
  ]) {
    assert.equal(safeMediaType(type), 'application/octet-stream', type);
  }
});
