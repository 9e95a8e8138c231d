export { backup, createKey, move, restore, serve } from './main.ts';
