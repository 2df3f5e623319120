/// The pages that links of the console lead to, with a limit for each kind of page.
struct Crawl {
    private static let maximumPages = 170
    private static let maximumOfKind = 6

    private var waiting: [String]
    private var known: Set<String>
    private var kinds: [String: Int] = [:]
    private(set) var count = 0

    /// - Parameter paths: The first pages, all of which are read.
    init(_ paths: [String]) {
        var known: Set<String> = []
        waiting = paths.filter { known.insert($0).inserted }
        self.known = known
    }

    /// The next page; nil at the end.
    mutating func next() -> String? {
        guard count < waiting.count else { return nil }
        defer { count += 1 }
        return waiting[count]
    }

    /// Adds the pages that a page leads to.
    mutating func follow(_ markup: Markup) {
        for element in markup.elements where element.name == "a" {
            guard let address = element.value("href"), address.hasPrefix("/console"), waiting.count < Self.maximumPages
            else { continue }
            let kind = Self.kind(address)
            guard kinds[kind, default: 0] < Self.maximumOfKind, known.insert(address).inserted else { continue }
            kinds[kind, default: 0] += 1
            waiting.append(address)
        }
    }

    /// The path without its names and numbers.
    private static func kind(_ address: String) -> String {
        let segments = address.prefix { $0 != "?" }.split(separator: "/").map { segment in
            segment.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") } ? String(segment) : "*"
        }
        return segments.prefix(segments.dropFirst().first == "figures" ? 2 : segments.count).joined(separator: "/")
    }
}
