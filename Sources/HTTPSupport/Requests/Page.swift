import Hummingbird
import Signatures

/// Which part of a list is asked for, by the query parameters `pageSize` and `cursor`.
///
/// A cursor names the last element of the page before, so that what is added meanwhile neither repeats nor hides an element.
/// What it holds is the service's own business.
package struct Page {
    package static let sizes = 1...100
    private static let standardSize = 20
    /// In bytes.
    private static let maximumCursorLength = 1366

    package let size: Int
    /// What names the last element of the page before; nil for the first page.
    package let last: String?

    /// - Throws: `Problem`, `parameterInvalid`.
    package init(_ request: Request) throws(Problem) {
        if let text = try request.query("pageSize") {
            guard let size = Int(text), Self.sizes.contains(size) else {
                throw Problem.parameter(
                    "pageSize", "a number from \(Self.sizes.lowerBound) to \(Self.sizes.upperBound)")
            }
            self.size = size
        } else {
            size = Self.standardSize
        }
        if let cursor = try request.query("cursor", upTo: Self.maximumCursorLength) {
            guard let bytes = Base64.decode(Array(cursor.utf8)[...], .urlSafe), bytes.count < 1024,
                let last = String(validating: bytes, as: UTF8.self)
            else { throw Problem.parameter("cursor", "what nextCursor said in an answer") }
            self.last = last
        } else {
            last = nil
        }
    }

    /// Of a list that is numbered, newest first, the number that the page is before; nil for the first page.
    package func before() throws(Problem) -> Int64? {
        guard let last else { return nil }
        guard let number = Int64(last) else { throw Problem.parameter("cursor", "what nextCursor said") }
        return number
    }

    /// A page of a list that is numbered, newest first.
    ///
    /// - Parameters:
    ///   - elements: The elements before a number, at most so many.
    ///   - list: What is answered, of the elements and the next page's cursor.
    package func answer<Element: Sendable>(
        _ elements: (_ before: Int64?, _ limit: Int) async throws -> [Element],
        number: (Element) -> Int64,
        list: ([Element], String?) -> some Encodable
    ) async throws -> Response {
        let before = try before()
        let (shown, next) = part(of: try await elements(before, size + 1)) { String(number($0)) }
        return try JSONAnswer.response(list(shown, next))
    }

    /// What is shown of a list from where the page begins, and the next page's cursor; nil on the last.
    ///
    /// - Parameters:
    ///   - found: One more at least than is shown, where there is another page.
    ///   - name: What a cursor names an element by.
    package func part<Element>(
        of found: some Collection<Element>,
        named name: (Element) -> String
    ) -> (shown: [Element], nextCursor: String?) {
        let shown = Array(found.prefix(size))
        return (shown, shown.count == found.count ? nil : shown.last.map { Self.cursor(after: name($0)) })
    }

    /// The cursor for the page after the one that ends with an element.
    private static func cursor(after last: String) -> String {
        Base64.encode(Array(last.utf8), .urlSafe)
    }
}

extension Problem {
    package static func parameter(_ name: String, _ expected: String) -> Problem {
        Problem(
            status: .badRequest, code: "parameterInvalid", detail: "The query parameter \(name) has to be \(expected).")
    }
}
