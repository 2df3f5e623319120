/// Metrics in Prometheus's text format, version 0.0.4.
package struct PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    package enum Kind: String {
        case counter, gauge, histogram
    }

    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func add(_ name: String, _ labels: [(String, String)] = [], _ value: some CustomStringConvertible)
    {
        text += name + Self.text(labels) + " \(value)\n"
    }

    package mutating func add(_ name: String, _ labels: [(String, String)] = [], _ histogram: Histogram) {
        let counts = histogram.cumulativeCounts
        for (bound, count) in zip(Histogram.bounds.map(\.description) + ["+Inf"], counts) {
            add(name + "_bucket", labels + [("le", bound)], count)
        }
        add(name + "_sum", labels, histogram.sum)
        add(name + "_count", labels, counts.last ?? 0)
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }
}
