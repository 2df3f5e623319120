import Catalog
import Foundation
import Hummingbird

/// The choice of a response's language from the catalog's languages, by `Accept-Language` (RFC 9110 section 12.5.4).
package enum Language {
    /// - Parameter available: The catalog's languages. The first is the default.
    package static func choose(for request: Request, among available: [String]) -> String? {
        var wanted: [(language: String, quality: Double)] = []
        for header in request.headers[values: .acceptLanguage] {
            for range in header.split(separator: ",").prefix(32) {
                let parts = range.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
                guard let tag = parts.first else { continue }
                let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
                wanted.append((String(tag.prefix { $0 != "-" && $0 != "_" }).lowercased(), quality))
            }
        }
        // Ranges of equal quality keep their order.
        for range in wanted.enumerated().sorted(by: {
            ($0.element.quality, -$0.offset) > ($1.element.quality, -$1.offset)
        }) where range.element.quality > 0 {
            if available.contains(range.element.language) { return range.element.language }
            if range.element.language == "*" { break }
        }
        return available.first
    }
}
