import Hummingbird
import Proofs

/// A page of a list, selected by the query parameters `pageSize` and `cursor`.
///
/// A cursor identifies the last element of the previous page. New elements therefore cause no repetitions or gaps. Its
/// content is opaque to clients.
package struct Page {
    package static let sizes = 1...100
    static let standardSize = 20
    /// The maximum length of a cursor, in bytes.
    private static let maximumCursorLength = 1366

    package let size: Int
    /// The identifier of the previous page's last element. Nil for the first page.
    package let last: String?

    /// - Throws: `Problem` with the code `parameterInvalid`.
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
            else { throw Problem.cursorInvalid }
            self.last = last
        } else {
            last = nil
        }
    }

    /// Returns the number before which the page begins, in a numbered list with the newest first. Nil for the first
    /// page.
    package func before() throws(Problem) -> Int64? {
        try position { Int64($0) }
    }

    /// Returns the position of the previous page's last element. Nil for the first page.
    ///
    /// - Parameter parse: Returns the position that a cursor names; nil for another text.
    package func position<Position>(_ parse: (String) -> Position?) throws(Problem) -> Position? {
        guard let last else { return nil }
        guard let position = parse(last) else { throw Problem.cursorInvalid }
        return position
    }

    /// Returns the elements of the page and the cursor of the next page. The cursor is nil on the last page.
    ///
    /// - Parameters:
    ///   - position: The position of an element in the list, which is the text of a cursor.
    ///   - elements: The elements after a position, up to a limit. Without a position, from the start of the list.
    package func list<Position: LosslessStringConvertible, Element>(
        at position: (Element) -> Position,
        _ elements: (_ after: Position?, _ limit: Int) async throws -> [Element]
    ) async throws -> (shown: [Element], nextCursor: String?) {
        let found = try await elements(try self.position { Position($0) }, size + 1)
        return part(of: found) { position($0).description }
    }

    /// Returns the answer with a page of a list.
    ///
    /// - Parameters:
    ///   - keys: The names of API keys by their identifiers.
    ///   - position: The position of an element in the list, which is the text of a cursor.
    ///   - elements: The elements after a position, up to a limit. Without a position, from the start of the list.
    package func answer<Position: LosslessStringConvertible, Element: Listed & AnswerValue & Sendable>(
        naming keys: [String: String] = [:],
        at position: (Element) -> Position,
        _ elements: (_ after: Position?, _ limit: Int) async throws -> [Element]
    ) async throws -> Response {
        let (shown, next) = try await list(at: position, elements)
        return try List(shown, nextCursor: next).answer(naming: keys)
    }

    /// Returns the elements of a list in memory from the start of the page on.
    ///
    /// - Parameter name: The identifier of an element in a cursor.
    package func rest<Element>(
        of elements: [Element],
        named name: (Element) -> String
    ) throws(Problem) -> ArraySlice<Element> {
        guard let last else { return elements[...] }
        guard let index = elements.firstIndex(where: { name($0).hasSameBytes(as: last) }) else {
            throw Problem.cursorInvalid
        }
        return elements[(index + 1)...]
    }

    /// Returns the elements of the page and the cursor of the next page. The cursor is nil on the last page.
    ///
    /// - Parameters:
    ///   - found: The elements from the start of the page. If there is another page, at least one more than the page
    /// shows.
    ///   - name: The identifier of an element in a cursor.
    package func part<Element>(
        of found: some Collection<Element>, named name: (Element) -> String
    ) -> (shown: [Element], nextCursor: String?) {
        let shown = Array(found.prefix(size))
        return (shown, shown.count == found.count ? nil : shown.last.map { Self.cursor(after: name($0)) })
    }

    /// The cursor of the page after an element.
    package static func cursor(after last: String) -> String {
        Base64.encode(Array(last.utf8), .urlSafe)
    }
}

extension Problem {
    package static let cursorInvalid = parameter("cursor", "the nextCursor of the previous page")

    /// The names that other services give to parameters, with the names here.
    private static let otherNames = [
        "count": "pageSize", "limit": "pageSize", "perPage": "pageSize", "size": "pageSize",
        "after": "cursor", "offset": "cursor", "page": "cursor", "startingAfter": "cursor",
    ]

    /// A query parameter that a route does not have.
    ///
    /// - Parameter known: The names of the route's parameters.
    static func parameterUnknown(_ name: String, known: [String]) -> Problem {
        let shown = name.unicodeScalars.prefix(64).map(String.init).joined()
        let meant = otherNames[name].flatMap { known.contains($0) ? $0 : nil }
        let suggestion =
            meant.map { " Did you mean \"\($0)\"?" } ?? Suggestion.sentence(for: name, among: known)
        let others =
            known.isEmpty ? " The path has no parameters." : " The parameters are \(known.joined(separator: ", "))."
        return Problem(
            status: .badRequest, code: "parameterInvalid",
            detail: "The query parameter \(shown) is unknown.\(suggestion)\(others)")
    }

    package static func parameter(_ name: String, _ expected: String) -> Problem {
        Problem(
            status: .badRequest, code: "parameterInvalid", detail: "The query parameter \(name) must be \(expected).")
    }
}
