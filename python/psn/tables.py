"""A posterior in numbers, for people."""

import html
import math

HEADER = ("", "mean", "sd", "5%", "25%", "50%", "75%", "95%")


def _figure(number, digits):
    return "unknown" if math.isnan(number) else "%.*f" % (digits, number)


def rows(columns):
    """Name and figures of each component."""
    for column in columns:
        for i in range(len(column.mean)):
            name = column.name if column.scalar else "%s[%d]" % (column.name, i)
            yield [name, column.mean[i], column.sd[i], *(q[i] for q in column.quantiles)]


def table(columns):
    lines = ["%16s" % HEADER[0] + "".join("%11s" % h for h in HEADER[1:])]
    for name, *figures in rows(columns):
        lines.append("%16s" % name + "".join("%11.5g" % f for f in figures))
    return "\n".join(lines)


def html_table(columns):
    head = "".join("<th>%s</th>" % h for h in HEADER)
    body = "".join("<tr><th>%s</th>%s</tr>"
                   % (html.escape(name), "".join("<td>%.5g</td>" % f for f in figures))
                   for name, *figures in rows(columns))
    return "<table><tr>%s</tr>%s</table>" % (head, body)


class Summary:
    """.columns have mean, sd, quantiles, ess, rhat; .ess, .log_evidence, .khat and so on are of the
    whole."""

    def __init__(self, summary, failed=0):
        self._summary, self._failed = summary, failed

    def __getattr__(self, name):
        return getattr(self._summary, name)

    def __getitem__(self, name):
        for column in self._summary.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def verdict(self):
        """How the engine fared, in a line."""
        s = self._summary
        if s.approximate:
            line = "approximate: %d draws of the network, not weighed" % s.samples
        elif s.chains == 0:
            line = ("ESS %s of %d, log evidence %.4f, Pareto k-hat %s (reliable below %.2f)" % (
                _figure(s.ess, 0), s.samples, s.log_evidence, _figure(s.khat, 2),
                max(0.0, s.khat_threshold)))
        else:
            line = "ESS %s of %d, split R-hat %s, acceptance %.3f" % (
                _figure(s.ess, 0), s.samples, _figure(s.rhat, 4), s.acceptance)
        return line + (", %d runs failed" % self._failed if self._failed else "")

    def __repr__(self):
        return table(self._summary.columns) + "\n" + self.verdict()

    def _repr_html_(self):
        return html_table(self._summary.columns) + "<p>%s</p>" % html.escape(self.verdict())
