// The manager's page. No build, no library. Everything that comes from the API enters the page as text, never as HTML.

const BASE = new URL("painel/", location.href.split(/[?#]/)[0]);
const RESINCRONIZAR_MS = 60_000;
const OCIOSO_MS = 10_000;
const ESPERA_MAXIMA_MS = 30_000;
const ATRASO_VISIVEL_MS = 15_000;
const SOBREPOSICAO_MS = 10_000; // how far back the API looks for what was written late
const ORDEM_STATUS = ["PENDENTE", "SEPARADO", "EM_ENTREGA", "ENTREGUE", "CANCELADO"];
const STATUS = /^[A-Z][A-Z_]{0,39}$/;
const PEDIDO = /^[0-9A-Za-z_-]{1,64}$/;
const NOMES = {
  PENDENTE: "Pendente", SEPARADO: "Separado", EM_ENTREGA: "Em entrega", ENTREGUE: "Entregue", CANCELADO: "Cancelado",
  NENHUM: "não visto antes",
};

const $ = (id) => document.getElementById(id);
const estado = {
  configuracao: { autenticacao: "nenhuma", intervaloMs: 2500 },
  loja: "", status: "", busca: "",
  pedidos: new Map(), reposicoes: [], maisReposicoes: false, cursores: new Map(), desde: "", etag: "",
  carregado: false, ultimaResposta: 0, ultimaLista: 0, ultimaMudanca: 0, falhas: 0,
  relogio: 0, geracao: 0, confirmando: "", enviando: new Set(), aberto: null, novos: new Set(),
};

// --- text -----------------------------------------------------------------------------------------------------------

const nomeStatus = (status) =>
  NOMES[status] ?? (status.charAt(0) + status.slice(1).toLowerCase()).replaceAll("_", " ");
const plural = (n, um, muitos) => `${n} ${n === 1 ? um : muitos}`;
const horario = new Intl.DateTimeFormat("pt-BR", { hour: "2-digit", minute: "2-digit" });
const completo = new Intl.DateTimeFormat("pt-BR", { day: "2-digit", month: "2-digit", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });

function haQuanto(iso) {
  const segundos = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  if (segundos < 10) return "agora";
  if (segundos < 60) return `há ${segundos} s`;
  if (segundos < 3600) return `há ${Math.floor(segundos / 60)} min`;
  if (segundos < 86400) return `há ${Math.floor(segundos / 3600)} h`;
  return `há ${plural(Math.floor(segundos / 86400), "dia", "dias")}`;
}

function criar(nome, atributos = {}, ...filhos) {
  const no = document.createElement(nome);
  for (const [chave, valor] of Object.entries(atributos)) {
    if (chave.startsWith("ao")) no.addEventListener(chave.slice(2), valor);
    else if (valor !== false && valor != null) no.setAttribute(chave, valor === true ? "" : valor);
  }
  no.append(...filhos.filter((filho) => filho != null));
  return no;
}

function instante(iso, texto) {
  return criar("time", { datetime: iso, title: completo.format(new Date(iso)) }, texto);
}

let anuncioPendente = 0;
function anunciar(texto) {
  // Emptied first, so that a sentence said twice is read twice.
  $("anuncio").textContent = "";
  clearTimeout(anuncioPendente);
  anuncioPendente = setTimeout(() => { $("anuncio").textContent = texto; }, 80);
}

// --- the API --------------------------------------------------------------------------------------------------------

class Recusa extends Error {
  constructor(status, texto) { super(texto); this.status = status; }
}

async function pedir(caminho, { metodo = "GET", etag = "" } = {}) {
  const cabecalhos = { Accept: "application/json" };
  const ficha = acesso.ficha();
  if (ficha) cabecalhos.Authorization = `Bearer ${ficha}`;
  if (etag) cabecalhos["If-None-Match"] = etag;
  const resposta = await fetch(new URL(caminho, BASE), {
    method: metodo, headers: cabecalhos, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(10_000),
  });
  if (resposta.status === 304) return { igual: true };
  if (!resposta.ok) {
    const problema = await resposta.json().catch(() => ({}));
    throw new Recusa(resposta.status, problema.detail ?? "O painel respondeu com erro.");
  }
  return { corpo: await resposta.json(), etag: resposta.headers.get("ETag") ?? "" };
}

const daLoja = (resto) => `lojas/${encodeURIComponent(estado.loja)}/${resto}`;

// --- who is asking (only where sign-in is on) -----------------------------------------------------------------------

const acesso = {
  ligado: () => estado.configuracao.autenticacao === "cognito",
  ficha() {
    const guardada = JSON.parse(sessionStorage.getItem("ficha") ?? "null");
    return guardada && guardada.ate > Date.now() ? guardada.token : "";
  },
  retorno: () => BASE.href.slice(0, -1),
  async entrar() {
    const verificador = aleatorio(48);
    const estadoLogin = aleatorio(24);
    sessionStorage.setItem("login", JSON.stringify({ verificador, estadoLogin, voltar: location.search }));
    const resumo = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verificador));
    const destino = new URL(`${estado.configuracao.urlLogin}/oauth2/authorize`);
    destino.search = new URLSearchParams({
      response_type: "code", client_id: estado.configuracao.clienteLogin, redirect_uri: acesso.retorno(),
      scope: "openid", state: estadoLogin, code_challenge: base64url(resumo), code_challenge_method: "S256",
    });
    location.assign(destino);
  },
  async concluir() {
    const volta = new URLSearchParams(location.search);
    const guardado = JSON.parse(sessionStorage.getItem("login") ?? "null");
    if (!volta.has("code")) return;
    sessionStorage.removeItem("login");
    history.replaceState(null, "", acesso.retorno() + (guardado?.voltar ?? ""));
    if (!guardado || guardado.estadoLogin !== volta.get("state")) return;
    const resposta = await fetch(`${estado.configuracao.urlLogin}/oauth2/token`, {
      method: "POST", credentials: "omit",
      body: new URLSearchParams({
        grant_type: "authorization_code", client_id: estado.configuracao.clienteLogin, code: volta.get("code"),
        redirect_uri: acesso.retorno(), code_verifier: guardado.verificador,
      }),
    });
    if (!resposta.ok) return;
    const { id_token: token, expires_in: segundos } = await resposta.json();
    // The tab's own storage: gone when it closes, and never sent anywhere by the browser itself.
    sessionStorage.setItem("ficha", JSON.stringify({ token, ate: Date.now() + (segundos - 30) * 1000 }));
  },
  sair() {
    sessionStorage.removeItem("ficha");
    const destino = new URL(`${estado.configuracao.urlLogin}/logout`);
    destino.search = new URLSearchParams({ client_id: estado.configuracao.clienteLogin, logout_uri: acesso.retorno() });
    location.assign(destino);
  },
};

function base64url(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
const aleatorio = (tamanho) => base64url(crypto.getRandomValues(new Uint8Array(tamanho)));

// --- data -----------------------------------------------------------------------------------------------------------

function guardar(pedidos, { anunciarMudanca }) {
  const mudados = [];
  for (const pedido of pedidos) {
    const conhecido = estado.pedidos.get(pedido.pedidoId);
    // The index behind the API may answer with something older than what is already here.
    const antigo = conhecido && (pedido.versao < conhecido.versao
      || (pedido.versao === conhecido.versao && pedido.gravadoEm <= conhecido.gravadoEm));
    if (antigo) continue;
    estado.pedidos.set(pedido.pedidoId, pedido);
    if (!conhecido || conhecido.status !== pedido.status) mudados.push(pedido);
  }
  if (!mudados.length || !anunciarMudanca) return mudados.length;
  estado.ultimaMudanca = Date.now();
  mudados.forEach((pedido) => estado.novos.add(pedido.pedidoId));
  anunciar(mudados.length === 1
    ? `Pedido ${mudados[0].pedidoId}: ${nomeStatus(mudados[0].status)}.`
    : `${mudados.length} pedidos mudaram de status.`);
  return mudados.length;
}

// The first page of them: what is confirmed makes room for the next.
function guardarReposicoes({ reposicoes, proximaReposicoes }) {
  const conhecidas = new Set(estado.reposicoes.map((r) => r.ordem));
  const novas = reposicoes.filter((r) => !conhecidas.has(r.ordem));
  estado.reposicoes = reposicoes;
  estado.maisReposicoes = Boolean(proximaReposicoes);
  if (novas.length && estado.carregado) {
    anunciar(`Atenção: ${plural(novas.length, "pedido cancelado depois de separado", "pedidos cancelados depois de separados")}. Devolver à prateleira.`);
  }
}

// Where what is loaded of a status ("" is all of them) ends; null when all of it is here. A cursor starts with the
// instant of writing: of two, the lower reaches further back.
function cursorDe(status) {
  const geral = estado.cursores.get("") ?? null;
  const proprio = estado.cursores.get(status);
  if (!geral || proprio === undefined) return geral;
  return proprio && proprio > geral ? geral : proprio;
}
const faltaDoFiltro = () => estado.status && !estado.cursores.has(estado.status) && cursorDe(estado.status);

async function listar({ continuar = false } = {}) {
  const geracao = estado.geracao;
  const status = continuar ? estado.status : "";
  const cursor = continuar ? cursorDe(status) : null;
  const filtro = new URLSearchParams({ limite: "100" });
  if (status) filtro.set("status", status);
  if (cursor) filtro.set("cursor", cursor);
  const { corpo } = await pedir(daLoja(`pedidos?${filtro}`));
  // Meanwhile another store was opened, or the page before this one was forgotten.
  if (geracao !== estado.geracao || (continuar && cursor !== cursorDe(status))) return;
  guardar(corpo.pedidos, { anunciarMudanca: estado.carregado && !continuar });
  guardarReposicoes(corpo);
  if (continuar) { estado.cursores.set(status, corpo.proxima); return; }
  if (!estado.carregado) estado.cursores.set("", corpo.proxima);
  else if (corpo.proxima) esquecerAntesDe(corpo);
  if (corpo.desde > estado.desde) { estado.desde = corpo.desde; estado.etag = ""; }
  estado.carregado = true;
  estado.ultimaLista = Date.now();
}

// A page that does not reach back to the last answer leaves a gap: any older order may have changed in it.
function esquecerAntesDe({ pedidos, proxima }) {
  const fim = pedidos.at(-1).gravadoEm;
  if (Date.parse(fim) <= Date.parse(estado.desde) - SOBREPOSICAO_MS) return;
  estado.pedidos.forEach((pedido, id) => { if (pedido.gravadoEm < fim) estado.pedidos.delete(id); });
  estado.cursores = new Map([["", proxima]]);
  if (estado.aberto) detalhar(estado.aberto);
}

async function mudancas() {
  const geracao = estado.geracao;
  const resposta = await pedir(daLoja(`mudancas?desde=${encodeURIComponent(estado.desde)}`), { etag: estado.etag });
  if (resposta.igual || geracao !== estado.geracao) return false;
  const { corpo, etag } = resposta;
  if (corpo.incompleta) { await listar(); return true; }
  guardar(corpo.pedidos, { anunciarMudanca: true });
  guardarReposicoes(corpo);
  estado.etag = corpo.desde === estado.desde ? etag : "";
  estado.desde = corpo.desde;
  return true;
}

// --- the loop: often while things move, slowly when they do not, not at all when nobody looks -----------------------

function agendar(ms) {
  clearTimeout(estado.relogio);
  if (document.hidden || !estado.loja) return;
  estado.relogio = setTimeout(consultar, ms);
}

function proximaEspera() {
  const base = estado.configuracao.intervaloMs;
  if (estado.falhas) return Math.min(ESPERA_MAXIMA_MS, base * 2 ** Math.min(estado.falhas, 6)) * (0.75 + Math.random() / 2);
  const parado = Date.now() - Math.max(estado.ultimaMudanca, estado.entrouEm ?? 0);
  // A tenth of the time since the last change, between the base and 10 s.
  return Math.min(OCIOSO_MS, Math.max(base, parado / 10));
}

async function consultar() {
  const geracao = estado.geracao;
  try {
    const velha = Date.now() - estado.ultimaLista > RESINCRONIZAR_MS;
    let mudou = true;
    if (!estado.carregado || velha) await listar();
    else mudou = await mudancas();
    if (geracao !== estado.geracao) return;
    if (mudou) desenhar();
    if (faltaDoFiltro()) {
      await listar({ continuar: true });
      if (geracao !== estado.geracao) return;
      desenhar();
    }
    estado.falhas = 0;
    estado.ultimaResposta = Date.now();
    avisar("");
  } catch (erro) {
    if (geracao !== estado.geracao) return;
    estado.falhas += 1;
    if (erro instanceof Recusa && erro.status === 401) { mostrarEntrada("Sua sessão terminou. Entre de novo."); return; }
    if (erro instanceof Recusa && [400, 403, 404].includes(erro.status)) { recusarLoja(erro.message); return; }
    if (!estado.carregado) { $("carregando").hidden = true; }
    avisar(navigator.onLine ? falhou(erro) : semRede(), true);
  }
  mostrarPulso();
  agendar(proximaEspera());
}

function semRede() {
  const desde = estado.ultimaResposta ? ` O que está na tela é das ${horario.format(estado.ultimaResposta)}.` : "";
  return `Sem conexão.${desde} A atualização volta sozinha quando a rede voltar.`;
}
function falhou(erro) {
  const muitas = erro instanceof Recusa && erro.status === 429;
  const motivo = muitas ? "Muitas consultas ao mesmo tempo." : "Não foi possível atualizar.";
  const desde = estado.ultimaResposta ? ` Mostrando o que havia às ${horario.format(estado.ultimaResposta)}.` : "";
  return `${motivo}${desde} Tentando de novo…`;
}

function avisar(texto, comBotao = false) {
  if ($("faixa-texto").textContent !== texto) $("faixa-texto").textContent = texto;
  $("faixa").hidden = !texto;
  $("tentar").hidden = !comBotao;
}

// --- drawing --------------------------------------------------------------------------------------------------------

function mostrarPulso() {
  const passou = Date.now() - estado.ultimaResposta;
  let situacao = "vivo";
  let texto = passou < 5000 ? "Ao vivo" : `Ao vivo · há ${Math.round(passou / 1000)} s`;
  if (!estado.ultimaResposta) { situacao = estado.falhas ? "parado" : "conectando"; texto = estado.falhas ? "Sem resposta" : "Conectando…"; }
  else if (!navigator.onLine) { situacao = "parado"; texto = "Sem conexão"; }
  else if (estado.falhas || passou > ATRASO_VISIVEL_MS) { situacao = "atrasado"; texto = `Atualizado ${haQuanto(new Date(estado.ultimaResposta).toISOString())}`; }
  $("pulso").dataset.estado = situacao;
  if ($("pulso-texto").textContent !== texto) $("pulso-texto").textContent = texto;
}

function statusPresentes() {
  const vistos = new Set(ORDEM_STATUS);
  for (const pedido of estado.pedidos.values()) vistos.add(pedido.status);
  return [...vistos];
}

function visiveis() {
  const busca = estado.busca.toLowerCase();
  return [...estado.pedidos.values()]
    .filter((p) => (!estado.status || p.status === estado.status) && (!busca || p.pedidoId.toLowerCase().includes(busca)))
    .sort((a, b) => (a.em < b.em ? 1 : a.em > b.em ? -1 : a.versao < b.versao ? 1 : -1));
}

function desenhar() {
  $("carregando").hidden = estado.carregado || estado.falhas > 0;
  if (!estado.carregado) return;
  manterFoco(() => {
    desenharReposicoes();
    desenharFiltros();
    desenharQuadro();
  });
  mostrarPulso();
  estado.novos.clear();
}

// Redrawing must not take the keyboard from whoever is on a button.
function manterFoco(acao) {
  const chave = document.activeElement?.dataset?.foco;
  const rolagem = $("reposicao-lista").scrollTop;
  acao();
  $("reposicao-lista").scrollTop = rolagem;
  if (chave && document.activeElement?.dataset?.foco !== chave) {
    document.querySelector(`[data-foco="${CSS.escape(chave)}"]`)?.focus({ preventScroll: true });
  }
}

function desenharReposicoes() {
  $("reposicao").hidden = estado.reposicoes.length === 0;
  const quantas = `${estado.reposicoes.length}${estado.maisReposicoes ? "+" : ""}`;
  $("reposicao-total").textContent = quantas;
  document.title = estado.reposicoes.length
    ? `(${quantas}) devolver · Cadência ${estado.loja}` : `Cadência · loja ${estado.loja}`;
  $("reposicao-lista").replaceChildren(...estado.reposicoes.map(linhaDeReposicao));
}

function linhaDeReposicao(reposicao) {
  const { pedidoId, ordem, em, certeza } = reposicao;
  const motivo = certeza === "SIM" ? "cancelado depois de separado" : "cancelado; pode ter sido separado: confira";
  const confirmando = estado.confirmando === ordem;
  const enviando = estado.enviando.has(ordem);
  const acoes = confirmando
    ? [
      criar("button", { type: "button", class: "botao perigo", disabled: enviando, "data-foco": `sim-${ordem}`, "aria-label": `Confirmar que o pedido ${pedidoId} voltou à prateleira`, aoclick: () => reconhecer(reposicao) }, enviando ? "Gravando…" : "Confirmar"),
      criar("button", { type: "button", class: "botao", disabled: enviando, "data-foco": `nao-${ordem}`, "aria-label": `Ainda não devolvi o pedido ${pedidoId}`, aoclick: () => perguntar("", ordem) }, "Ainda não"),
    ]
    : [criar("button", { type: "button", class: "botao", "data-foco": `devolvi-${ordem}`, "aria-label": `Já devolvi à prateleira o pedido ${pedidoId}`, aoclick: () => perguntar(ordem) }, "Já devolvi")];
  return criar("li", { "data-ordem": ordem },
    criar("div", { class: "quem" },
      criar("button", { type: "button", class: "elo numero", "data-foco": `abrir-rep-${ordem}`, aoclick: () => abrir(pedidoId) }, pedidoId),
      criar("span", { class: "quando" }, instante(em, haQuanto(em)), ` · ${motivo}`)),
    criar("div", { class: "acoes" }, ...acoes));
}

function perguntar(ordem, anterior = "") {
  estado.confirmando = ordem;
  desenharReposicoes();
  const alvo = ordem ? `sim-${ordem}` : `devolvi-${anterior}`;
  document.querySelector(`[data-foco="${CSS.escape(alvo)}"]`)?.focus();
}

async function reconhecer({ pedidoId, ordem }) {
  estado.enviando.add(ordem);
  desenharReposicoes();
  try {
    await pedir(daLoja(`pedidos/${encodeURIComponent(pedidoId)}/reposicoes/${encodeURIComponent(ordem)}`), { metodo: "PUT" });
    estado.reposicoes = estado.reposicoes.filter((r) => r.ordem !== ordem);
    estado.etag = "";
    estado.ultimaMudanca = Date.now();
    anunciar(`Devolução do pedido ${pedidoId} confirmada.`);
    avisar("");
  } catch (erro) {
    avisar(erro instanceof Recusa ? erro.message : "A devolução não foi gravada. Confira a conexão e tente de novo.");
  } finally {
    estado.enviando.delete(ordem);
    estado.confirmando = "";
    desenhar();
    (document.querySelector("#reposicao-lista .acoes button") ?? $("conteudo")).focus({ preventScroll: true });
  }
}

// What is known of a status: with more behind it, a number is only a beginning.
const aoMenos = (quantos, status) => (cursorDe(status) ? `${quantos}+` : String(quantos));

function desenharFiltros() {
  const contagem = new Map();
  for (const pedido of estado.pedidos.values()) contagem.set(pedido.status, (contagem.get(pedido.status) ?? 0) + 1);
  const opcao = (status, nome, quantos) => criar("button",
    { type: "button", class: "filtro", "data-status": status, "data-foco": `filtro-${status}`, "aria-pressed": String(estado.status === status), aoclick: () => filtrar(status) },
    status ? criar("span", { class: "ponto", "aria-hidden": "true" }) : null, nome, criar("span", { class: "quantos" }, aoMenos(quantos, status)));
  $("filtros").replaceChildren(
    opcao("", "Todos", estado.pedidos.size),
    ...statusPresentes().map((status) => opcao(status, nomeStatus(status), contagem.get(status) ?? 0)));
}

function desenharQuadro() {
  const lista = visiveis();
  const grupos = new Map(statusPresentes().filter((s) => !estado.status || s === estado.status).map((s) => [s, []]));
  lista.forEach((pedido) => grupos.get(pedido.status)?.push(pedido));
  $("quadro").replaceChildren(...[...grupos].filter(([, pedidos]) => pedidos.length).map(([status, pedidos]) =>
    criar("section", { class: "coluna", "data-status": status, "aria-label": `${nomeStatus(status)}, ${plural(pedidos.length, "pedido", "pedidos")}${cursorDe(status) ? " ou mais" : ""}` },
      criar("h2", {}, nomeStatus(status), criar("span", { class: "quantos" }, aoMenos(pedidos.length, status))),
      criar("ul", { class: "pedidos" }, ...pedidos.map(linhaDePedido)))));
  $("mais").hidden = !cursorDe(estado.status);
  $("vazio").hidden = lista.length > 0;
  if (lista.length) return;
  const filtrado = estado.status || estado.busca;
  const haMais = cursorDe(estado.status);
  $("vazio-titulo").textContent = !filtrado ? "Nenhum movimento nesta loja ainda"
    : haMais ? `Nenhum pedido com este filtro entre os ${estado.pedidos.size} carregados` : "Nenhum pedido com este filtro";
  $("vazio-texto").textContent = !filtrado ? "Assim que um pedido mudar de status, ele aparece aqui sozinho."
    : haMais ? "A loja tem pedidos mais antigos: carregue mais para continuar procurando."
      : "Mude o status ou limpe a busca para ver os outros pedidos.";
  $("vazio-abrir").hidden = !PEDIDO.test(estado.busca);
  $("vazio-abrir").textContent = `Abrir o pedido ${estado.busca}`;
}

function linhaDePedido(pedido) {
  const devolver = estado.reposicoes.some((r) => r.pedidoId === pedido.pedidoId);
  return criar("li", { class: estado.novos.has(pedido.pedidoId) ? "novo" : null },
    criar("button", { type: "button", class: "pedido", "data-pedido": pedido.pedidoId, "data-foco": `pedido-${pedido.pedidoId}`, aoclick: () => abrir(pedido.pedidoId) },
      criar("span", { class: "numero" }, pedido.pedidoId),
      criar("span", { class: "quando" }, instante(pedido.em, haQuanto(pedido.em))),
      criar("span", { class: "antes" },
        pedido.statusAnterior === "NENHUM" ? "antes: sem registro" : `antes: ${nomeStatus(pedido.statusAnterior)}`,
        devolver ? criar("span", { class: "etiqueta" }, "devolver") : null,
        pedido.reconstruido ? criar("span", { class: "etiqueta lacuna" }, "reconstruído") : null)));
}

// --- one order ------------------------------------------------------------------------------------------------------

async function abrir(pedidoId) {
  estado.aberto = pedidoId;
  $("detalhe-titulo").textContent = `Pedido ${pedidoId}`;
  $("detalhe-resumo").textContent = "";
  $("detalhe-corpo").replaceChildren(criar("p", {}, "Carregando…"));
  if (!$("detalhe").open) {
    // An open modal makes the rest of the page inert, and what is inert is neither read out nor pressed.
    $("detalhe-corpo").before($("faixa"), $("anuncio"));
    $("detalhe").showModal();
  }
  lembrarEndereco();
  await detalhar(pedidoId);
}

async function detalhar(pedidoId) {
  try {
    const { corpo } = await pedir(daLoja(`pedidos/${encodeURIComponent(pedidoId)}`));
    if (estado.aberto !== pedidoId) return;
    $("detalhe-resumo").textContent = `${nomeStatus(corpo.status)} desde ${completo.format(new Date(corpo.em))}`;
    $("detalhe-corpo").replaceChildren(criar("ol", { class: "linha-do-tempo" }, ...corpo.historico.map(linhaDoTempo)));
    estado.versaoAberta = corpo.gravadoEm;
  } catch (erro) {
    if (estado.aberto !== pedidoId) return;
    if (erro instanceof Recusa && erro.status === 401) { mostrarEntrada("Sua sessão terminou. Entre de novo."); return; }
    const texto = erro instanceof Recusa ? erro.message : "Não foi possível carregar a linha do tempo.";
    $("detalhe-corpo").replaceChildren(criar("p", { role: "alert" }, texto),
      criar("p", {}, criar("button", { type: "button", class: "botao", aoclick: () => detalhar(pedidoId) }, "Tentar de novo")));
  }
}

function linhaDoTempo(passo) {
  const lacuna = passo.tipo === "LACUNA";
  const titulo = lacuna
    ? `Período sem registro: de ${nomeStatus(passo.de)} a ${nomeStatus(passo.para)}`
    : `${nomeStatus(passo.de)} → ${nomeStatus(passo.para)}`;
  const notas = [];
  if (lacuna) notas.push(criar("p", { class: "nota" }, "O painel ficou sem receber mudanças; o que houve no meio não é conhecido."));
  if (passo.reposicao && passo.reconhecidoEm) {
    notas.push(criar("p", { class: "nota feita" }, `Devolvido à prateleira: confirmado em ${completo.format(new Date(passo.reconhecidoEm))}`));
  } else if (passo.reposicao) {
    notas.push(criar("p", { class: "nota forte" }, passo.reposicao === "SIM" ? "Devolver à prateleira" : "Conferir: pode ter sido separado"));
  }
  if (passo.alerta === "PUBLICADO") notas.push(criar("p", { class: "nota" }, "Equipe de estoque avisada."));
  return criar("li", { class: lacuna ? "lacuna" : null, "data-status": passo.para },
    criar("h3", {}, titulo), instante(passo.em, completo.format(new Date(passo.em))), ...notas);
}

// --- where the manager is -------------------------------------------------------------------------------------------

function lembrarEndereco() {
  const parametros = new URLSearchParams();
  if (estado.loja) parametros.set("loja", estado.loja);
  if (estado.status) parametros.set("status", estado.status);
  if (estado.aberto) parametros.set("pedido", estado.aberto);
  history.replaceState(null, "", `?${parametros}`);
}

async function filtrar(status) {
  estado.status = status;
  lembrarEndereco();
  desenhar();
  if (faltaDoFiltro()) await consultar();
  anunciar(`${plural(visiveis().length, "pedido", "pedidos")} na lista.`);
}

function mostrarSo(id) {
  $("detalhe").close();
  for (const outro of ["entrada", "escolher-loja", "painel"]) $(outro).hidden = outro !== id;
  $("trocar-loja").hidden = id !== "painel";
  $("pulso").hidden = id !== "painel";
}

function mostrarEntrada(motivo) {
  estado.geracao += 1;
  clearTimeout(estado.relogio);
  avisar("");
  $("entrada-motivo").textContent = motivo;
  mostrarSo("entrada");
  $("entrar").focus();
}

function pedirLoja(erro = "") {
  estado.geracao += 1;
  clearTimeout(estado.relogio);
  estado.loja = "";
  avisar("");
  $("nome-loja").textContent = "Painel da loja";
  document.title = "Cadência · painel da loja";
  mostrarSo("escolher-loja");
  $("loja-ajuda").textContent = erro || "Por exemplo, L001.";
  $("loja-ajuda").classList.toggle("erro", Boolean(erro));
  $("loja").setAttribute("aria-invalid", String(Boolean(erro)));
  $("loja").focus();
}
const recusarLoja = (motivo) => pedirLoja(motivo);

function abrirLoja(loja) {
  Object.assign(estado, {
    loja, geracao: estado.geracao + 1, pedidos: new Map(), reposicoes: [], maisReposicoes: false, cursores: new Map(), desde: "", etag: "",
    carregado: false, ultimaResposta: 0, ultimaLista: 0, ultimaMudanca: 0, falhas: 0, confirmando: "", entrouEm: Date.now(),
  });
  localStorage.setItem("loja", loja);
  $("nome-loja").textContent = `Loja ${loja}`;
  $("quadro").replaceChildren();
  $("filtros").replaceChildren();
  $("vazio").hidden = true;
  $("reposicao").hidden = true;
  $("carregando").hidden = false;
  mostrarSo("painel");
  mostrarPulso();
  lembrarEndereco();
  consultar();
}

async function comecar() {
  try {
    estado.configuracao = (await pedir("configuracao")).corpo;
    if (acesso.ligado()) await acesso.concluir();
  } catch {
    avisar(navigator.onLine ? "O painel não respondeu. Tentando de novo…" : semRede(), true);
    estado.relogio = setTimeout(comecar, 5000);
    return;
  }
  avisar("");
  $("sair").hidden = !(acesso.ligado() && acesso.ficha());
  if (acesso.ligado() && !acesso.ficha()) { mostrarEntrada("Use o seu acesso de gerente."); return; }
  const endereco = new URLSearchParams(location.search);
  const loja = endereco.get("loja") ?? localStorage.getItem("loja") ?? "";
  const status = endereco.get("status") ?? "";
  estado.status = STATUS.test(status) ? status : "";
  const pedido = endereco.get("pedido");
  if (!loja) { pedirLoja(); return; }
  abrirLoja(loja);
  if (pedido) abrir(pedido);
}

$("entrar").addEventListener("click", () => acesso.entrar());
$("sair").addEventListener("click", () => acesso.sair());
$("trocar-loja").addEventListener("click", () => pedirLoja());
$("escolher-loja").addEventListener("submit", (evento) => {
  evento.preventDefault();
  const loja = $("loja").value.trim();
  if (/^[0-9A-Za-z_-]{1,32}$/.test(loja)) abrirLoja(loja);
  else pedirLoja("Use letras, números, hífen ou sublinhado.");
});
$("busca").addEventListener("input", () => { estado.busca = $("busca").value.trim(); desenhar(); });
const abrirBusca = () => { if (PEDIDO.test(estado.busca)) abrir(estado.busca); };
$("busca").addEventListener("keydown", (evento) => {
  if (evento.key !== "Enter") return;
  evento.preventDefault(); // the dialog takes the focus at once: the same key would press its button
  abrirBusca();
});
$("vazio-abrir").addEventListener("click", abrirBusca);
$("tentar").addEventListener("click", () => { clearTimeout(estado.relogio); estado.loja ? consultar() : comecar(); });
$("mais").addEventListener("click", async () => {
  $("mais").disabled = true;
  try { await listar({ continuar: true }); desenhar(); } catch (erro) { avisar(falhou(erro)); }
  $("mais").disabled = false;
});
$("detalhe-fechar").addEventListener("click", () => $("detalhe").close());
$("detalhe").addEventListener("click", (evento) => { if (evento.target === $("detalhe")) $("detalhe").close(); });
$("detalhe").addEventListener("close", () => {
  const fechado = estado.aberto;
  estado.aberto = null;
  $("conteudo").before($("faixa"));
  $("conteudo").after($("anuncio"));
  lembrarEndereco();
  document.querySelector(`[data-foco="${CSS.escape(`pedido-${fechado}`)}"]`)?.focus({ preventScroll: true });
});
document.addEventListener("visibilitychange", () => { if (document.hidden) clearTimeout(estado.relogio); else if (estado.loja) consultar(); });
window.addEventListener("online", () => { estado.falhas = 0; if (estado.loja) { clearTimeout(estado.relogio); consultar(); } });
window.addEventListener("offline", () => { if (estado.loja) { avisar(semRede(), false); mostrarPulso(); } });
setInterval(() => {
  if (document.hidden || !estado.carregado || !estado.loja) return;
  mostrarPulso();
  const aberto = estado.pedidos.get(estado.aberto);
  if (aberto && estado.versaoAberta && aberto.gravadoEm > estado.versaoAberta) detalhar(estado.aberto);
}, 1000);
setInterval(() => {
  document.querySelectorAll("#quadro time, #reposicao-lista time").forEach((no) => { no.textContent = haQuanto(no.dateTime); });
}, 10_000);
comecar();
