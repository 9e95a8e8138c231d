export { backup, createKey, move, restore, rotateUploads, serve } from './main.ts';
