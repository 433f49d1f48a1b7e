// Language and theme switches, sortable tables, charts and downloads of the report page. Text from the study
// reaches the document through textContent only.
(function () {
  "use strict";
  var root = document.documentElement;
  var charts = JSON.parse(document.getElementById("charts").textContent);
  var live = {};
  var printing = false;

  function each(selector, act, from) {
    Array.prototype.forEach.call((from || document).querySelectorAll(selector), act);
  }

  // Language -----------------------------------------------------------------------------------------------------
  function language() { return root.dataset.lang; }

  function setLanguage(lang) {
    root.dataset.lang = lang;
    root.lang = lang === "zh" ? "zh-CN" : "en";
    var title = document.querySelector("title");
    document.title = title.dataset[lang];
    each("[data-label-en]", function (node) { node.setAttribute("aria-label", node.getAttribute("data-label-" + lang)); });
    each("[data-set-lang]", function (node) { node.setAttribute("aria-pressed", String(node.dataset.setLang === lang)); });
    drawAll();
  }

  // Theme --------------------------------------------------------------------------------------------------------
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var chosen = null;

  function applyTheme() {
    var theme = printing ? "light" : chosen || (dark.matches ? "dark" : "light");
    root.dataset.theme = theme;
    root.style.colorScheme = theme;
    drawAll();
  }

  function colour(name) { return getComputedStyle(root).getPropertyValue("--" + name).trim(); }

  // Charts -------------------------------------------------------------------------------------------------------
  function words(message) { return message[language()]; }

  function shown(value) {
    if (value === null || value === undefined) { return "–"; }
    var size = Math.abs(value);
    var digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
  }

  function withUnit(text, chart) {
    var unit = words(chart.unit);
    return unit === "×" ? text + unit : unit ? text + " " + unit : text;
  }

  // Tooltips are built as nodes: a label from the study can never become markup.
  function tip(head, lines) {
    var box = document.createElement("div");
    box.className = "tip";
    var title = document.createElement("b");
    title.textContent = head;
    box.appendChild(title);
    lines.forEach(function (line) {
      var row = document.createElement("div");
      row.textContent = line;
      box.appendChild(row);
    });
    return box;
  }

  function base(chart, narrow) {
    return {
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("soft"), fontSize: 12.5 },
      grid: { left: 8, right: narrow ? 30 : 72, top: 10, bottom: 8, containLabel: true },
      tooltip: {
        trigger: "item", confine: true, backgroundColor: colour("card"), borderColor: colour("line"),
        padding: [8, 12], textStyle: { color: colour("ink"), fontSize: 13 }, extraCssText: "box-shadow:0 4px 18px rgba(0,0,0,.14)"
      }
    };
  }

  function categoryAxis(chart, narrow) {
    return {
      type: "category", inverse: true, data: chart.categories.map(words),
      axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: colour("ink"), width: labelWidth(chart, narrow ? 108 : 230), overflow: "break", lineHeight: 15, interval: 0 }
    };
  }

  var ruler = document.createElement("canvas").getContext("2d");

  function labelWidth(chart, most) {
    ruler.font = "12.5px " + getComputedStyle(document.body).fontFamily;
    var widest = chart.categories.reduce(function (width, message) { return Math.max(width, ruler.measureText(words(message)).width); }, 0);
    return Math.min(most, Math.ceil(widest) + 4);
  }

  function tick(value, chart) {
    var unit = words(chart.unit), text = (+value.toPrecision(6)).toLocaleString("en-US");
    return unit === "%" || unit === "×" ? withUnit(text, chart) : text; // other units stand in the caption
  }

  function valueAxis(chart, extra) {
    var axis = {
      type: "value", splitNumber: 4, axisLine: { show: false }, axisTick: { show: false },
      splitLine: { lineStyle: { color: colour("line") } },
      axisLabel: { color: colour("faint"), hideOverlap: true, formatter: function (value) { return tick(value, chart); } }
    };
    for (var key in extra) { axis[key] = extra[key]; }
    return axis;
  }

  // The far end of a whisker, or the end of the axis where that comes first.
  function reach(chart, high) { return typeof chart.top === "number" ? Math.min(high, chart.top) : high; }

  // A whisker that goes on beyond the axis ends in an arrowhead.
  function arrows(chart, series) {
    var data = [];
    series.values.forEach(function (value, at) {
      if (typeof series.high[at] === "number" && reach(chart, series.high[at]) < series.high[at]) { data.push([chart.top, at]); }
    });
    return {
      type: "scatter", data: data, silent: true, symbol: "triangle", symbolRotate: -90, symbolSize: 11, clip: false, z: 7,
      itemStyle: { color: colour("whisker") }
    };
  }

  // Whiskers are line segments between nulls, so the smallest build of the library can draw them.
  function whiskers(chart, series, offset) {
    var data = [];
    series.values.forEach(function (value, at) {
      if (series.low[at] === null || series.low[at] === undefined) { return; }
      var end = reach(chart, series.high[at]);
      data.push([series.low[at], at], { value: [end, at], symbol: end < series.high[at] ? "none" : "rect" }, [null, null]);
    });
    return {
      type: "line", data: data, silent: true, connectNulls: false, symbol: "rect", symbolSize: [1.5, offset || 10], z: 5,
      showAllSymbol: true, lineStyle: { color: colour("whisker"), width: 1.5 }, itemStyle: { color: colour("whisker") }
    };
  }

  function range(chart, series, at) {
    if (series.low[at] === null || series.low[at] === undefined) { return []; }
    return ["95 %: " + shown(series.low[at]) + " – " + withUnit(shown(series.high[at]), chart)];
  }

  function bars(chart, narrow) {
    var option = base(chart, narrow);
    var many = chart.series.length > 1;
    option.xAxis = valueAxis(chart, {});
    if (typeof chart.top === "number") { // ends at no round figure, so its end goes without one
      option.xAxis.max = chart.top;
      option.xAxis.axisLabel.showMaxLabel = false;
    }
    option.yAxis = categoryAxis(chart, narrow);
    if (many) { legend(option, chart, narrow); }
    option.series = chart.series.map(function (series) {
      var fill = many ? colour("c" + series.group % 8) : colour("bar");
      return {
        type: "bar", name: words(series.title), color: fill, barMaxWidth: many ? 13 : 22, barGap: "20%",
        data: series.values.map(function (value, at) {
          return { value: value, itemStyle: { color: series.muted[at] ? colour("bar-muted") : fill, borderRadius: [0, 3, 3, 0] } };
        }),
        tooltip: { formatter: function (hit) {
          var line = withUnit(shown(hit.value), chart);
          return tip(words(chart.categories[hit.dataIndex]), [words(series.title) + ": " + line].concat(range(chart, series, hit.dataIndex)));
        } }
      };
    });
    if (!many) { option.series.push(whiskers(chart, chart.series[0]), arrows(chart, chart.series[0])); }
    return option;
  }

  function stack(chart, narrow) {
    var option = base(chart, narrow);
    option.xAxis = valueAxis(chart, words(chart.unit) === "%" ? { max: 100, interval: 25 } : {});
    option.yAxis = categoryAxis(chart, narrow);
    legend(option, chart, narrow);
    option.series = chart.series.map(function (series) {
      return {
        type: "bar", stack: "all", name: words(series.title), barMaxWidth: 24, data: series.values,
        itemStyle: { color: colour("p" + series.group % 6), borderColor: colour("paper"), borderWidth: 1 },
        tooltip: { formatter: function (hit) {
          return tip(words(chart.categories[hit.dataIndex]), [words(series.title) + ": " + withUnit(shown(hit.value), chart)]);
        } }
      };
    });
    return option;
  }

  function legend(option, chart, narrow) {
    var wrap = narrow && chart.series.length > 3;
    option.legend = {
      top: 0, left: 0, itemWidth: 11, itemHeight: 11, itemGap: narrow ? 12 : 16, type: wrap ? "plain" : "scroll", icon: "roundRect",
      textStyle: { color: colour("soft"), fontSize: 12.5 }, pageTextStyle: { color: colour("soft") },
      pageIconColor: colour("soft"), pageIconInactiveColor: colour("line")
    };
    option.grid.top = wrap ? 62 : 38;
  }

  function intervals(chart, narrow) {
    var option = base(chart, narrow);
    var series = chart.series[0];
    option.xAxis = valueAxis(chart, bounds(series, chart));
    option.yAxis = categoryAxis(chart, narrow);
    option.yAxis.splitLine = { show: false };
    option.series = [whiskers(chart, series, 10), arrows(chart, series), {
      type: "scatter", symbolSize: 11, z: 6,
      data: series.values.map(function (value, at) {
        return { value: [value, at], itemStyle: { color: series.muted[at] ? colour("bar-muted") : colour("bar"), borderColor: colour("paper"), borderWidth: 1.5 } };
      }),
      label: { show: !narrow, position: "top", distance: 7, color: colour("ink"), formatter: function (hit) { return withUnit(hit.value[0].toFixed(2), chart); } },
      tooltip: { formatter: function (hit) {
        return tip(words(chart.categories[hit.dataIndex]), [withUnit(hit.value[0].toFixed(3), chart)].concat(range(chart, series, hit.dataIndex)));
      } },
      markLine: {
        silent: true, symbol: "none", label: { show: false }, animation: false,
        lineStyle: { color: colour("soft"), type: "dashed", width: 1 }, data: [{ xAxis: chart.reference }]
      }
    }];
    return option;
  }

  // The axis takes in every whisker and the reference, and ends on round figures.
  function bounds(series, chart) {
    var all = series.values.concat(series.low, series.high, [chart.reference]).filter(function (v) { return typeof v === "number"; });
    var low = Math.min.apply(null, all), high = reach(chart, Math.max.apply(null, all));
    var rough = Math.max(high - low, 0.04) / 4, power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = power * [1, 2, 2.5, 5, 10].filter(function (nice) { return nice * power >= rough; })[0];
    return { min: Math.max(0, Math.floor(low / step) * step), max: Math.ceil(high / step) * step, interval: step };
  }

  function cloud(chart, narrow) {
    var option = base(chart, narrow);
    var lines = chart.kind === "lines";
    option.xAxis = { type: "value", name: words(chart.x_title), nameLocation: "end", min: "dataMin", max: "dataMax", axisLine: { lineStyle: { color: colour("line") } }, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { color: colour("faint"), hideOverlap: true }, nameTextStyle: { color: colour("faint") } };
    option.yAxis = valueAxis(chart, lines ? { scale: true } : { type: chart.wide ? "log" : "value" });
    option.grid.right = 44;
    legend(option, chart, narrow);
    option.grid.top += 10;
    option.series = chart.series.map(function (series) {
      var fill = colour("c" + series.group % 8);
      return {
        type: lines ? "line" : "scatter", name: words(series.title), symbolSize: lines ? 0 : 4.5, showSymbol: !lines, clip: true,
        itemStyle: { color: fill }, lineStyle: { color: fill, width: 1.6 },
        data: series.points.map(function (point, at) {
          return series.muted[at] ? { value: point, itemStyle: { color: fill, opacity: 0.22 } } : point;
        }),
        tooltip: { formatter: function (hit) {
          return tip(words(series.title), [words(chart.x_title) + " " + hit.value[0] + ": " + withUnit(shown(hit.value[1]), chart)]);
        } }
      };
    });
    return option;
  }

  var kinds = { bars: bars, stack: stack, intervals: intervals, points: cloud, lines: cloud };

  function height(chart) {
    if (chart.kind === "points" || chart.kind === "lines") { return 320; }
    var row = chart.kind === "intervals" ? 50 : chart.series.length > 1 && chart.kind === "bars" ? 22 + 16 * chart.series.length : 38;
    return Math.max(110, row * chart.categories.length + (chart.kind === "bars" && chart.series.length < 2 ? 44 : 74));
  }

  function draw(node) {
    var chart = charts[node.dataset.chart];
    if (!chart || !window.echarts) { return; }
    node.style.height = height(chart) + "px";
    var renderer = chart.kind === "points" ? "canvas" : "svg";
    live[node.dataset.chart] = live[node.dataset.chart] || window.echarts.init(node, null, { renderer: renderer });
    live[node.dataset.chart].resize();
    live[node.dataset.chart].setOption(kinds[chart.kind](chart, node.clientWidth < 560), true);
  }

  var ready = false;
  function drawAll() { if (ready) { each("[data-chart]", draw); } }

  // Tables -------------------------------------------------------------------------------------------------------
  function key(cell) {
    if (cell.dataset.value !== undefined) { return parseFloat(cell.dataset.value); }
    return cell.querySelector(".why") || cell.classList.contains("num") ? null : cell.textContent.trim();
  }

  function sortBy(header) {
    var table = header.closest("table"), body = table.tBodies[0];
    var at = Array.prototype.indexOf.call(header.parentNode.children, header);
    var down = header.getAttribute("aria-sort") === "ascending" || (!header.hasAttribute("aria-sort") && header.classList.contains("num"));
    if (header.getAttribute("aria-sort") === "descending") { down = false; }
    each("th[aria-sort]", function (other) { other.removeAttribute("aria-sort"); }, table.tHead);
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (one, two) {
      var a = key(one.cells[at]), b = key(two.cells[at]);
      if (a === null || b === null) { return (a === null) - (b === null); } // what is missing stays at the end
      var order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
      return down ? -order : order;
    });
    rows.forEach(function (row) { body.appendChild(row); });
  }

  // Downloads ----------------------------------------------------------------------------------------------------
  function field(value) {
    var text = value === null || value === undefined ? "" : String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) { text = "'" + text; } // a spreadsheet must not run it
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function stepsCsv(study) {
    var lines = ["condition,process,round,turn,step,step_time_s"];
    study.trials.forEach(function (trial) {
      (trial.step_ns || []).forEach(function (ns, at) {
        lines.push([field(trial.cell), field(trial.id), trial.round, trial.turn[at], at, (ns / 1e9).toFixed(9)].join(","));
      });
    });
    return lines.join("\n") + "\n";
  }

  function save(button) {
    var study = JSON.parse(document.getElementById("raw").textContent)[+button.dataset.study];
    var csv = button.dataset.content === "csv";
    var text = csv ? stepsCsv(study) : JSON.stringify(study, null, 1);
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: csv ? "text/csv" : "application/json" }));
    link.download = button.dataset.filename;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  // Wiring -------------------------------------------------------------------------------------------------------
  each("[data-set-lang]", function (node) { node.addEventListener("click", function () { setLanguage(node.dataset.setLang); }); });
  each(".theme", function (node) {
    node.addEventListener("click", function () { chosen = root.dataset.theme === "dark" ? "light" : "dark"; applyTheme(); });
  });
  each("thead th", function (header) { header.querySelector("button").addEventListener("click", function () { sortBy(header); }); });
  each(".download", function (node) { node.addEventListener("click", function () { save(node); }); });
  dark.addEventListener("change", applyTheme);
  window.matchMedia("print").addEventListener("change", function (event) { printing = event.matches; applyTheme(); });
  var waiting = null, width = window.innerWidth;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) { return; } // a phone's address bar changes the height only
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });
  if (window.IntersectionObserver) {
    var inView = {};
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) { inView[entry.target.id] = entry.isIntersecting; });
      var last = null;
      each("nav a", function (link) {
        link.classList.remove("here");
        if (inView[link.hash.slice(1)]) { last = link; }
      });
      if (last) { last.classList.add("here"); }
    }, { rootMargin: "-20% 0px -70% 0px" });
    each("section", function (section) { seen.observe(section); });
  }
  applyTheme();
  ready = true;
  setLanguage(language());
  root.dataset.ready = "yes";
})();
