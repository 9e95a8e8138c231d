<<<<<<<< HEAD:packages/console/built/assets/chat-state-DOONxRn8.js
import{J as e}from"./libraries-CgYIfE-G.js";import{q as t}from"./shared-Dhi6P3D-.js";var n=({title:e,aliasChatId:t,chatId:n})=>e?.trim()||t||n,r=e(),i=({status:e,pending:n})=>(0,r.jsx)(t,{status:n.length>0?`waiting`:e});export{n,i as t};
========
import{J as e}from"./libraries-CgYIfE-G.js";import{q as t}from"./shared-HCEFSQJL.js";var n=({title:e,aliasChatId:t,chatId:n})=>e?.trim()||t||n,r=e(),i=({status:e,pending:n})=>(0,r.jsx)(t,{status:n.length>0?`waiting`:e});export{n,i as t};
>>>>>>>> why:packages/console/built/assets/chat-state-Cpk2KeCT.js
