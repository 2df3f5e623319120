import Foundation
import Hummingbird
import Proofs
import Vocabulary

/// A page of a list, selected by the query parameters `pageSize` and `cursor`.
///
/// A cursor identifies the last element of the previous page. New elements therefore cause no repetitions or gaps. Its
/// content is opaque to clients.
package struct RequestedPage {
    package static let sizes = 1...100
    static let standardSize = 20
    /// The maximum length of a cursor, in bytes.
    private static let maximumCursorLength = 1366

    package let size: Int
    /// The identifier of the previous page's last element. Nil for the first page.
    package let last: String?

    /// - Throws: `Problem` with the code `parameterInvalid`.
    package init(_ request: Request) throws(Problem) {
        size = try request.queriedNumber("pageSize", in: Self.sizes, else: Self.standardSize)
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
    ///   - unknownUser: Returns the statement about an unknown user, for a list of a user that is empty.
    ///   - elements: The elements after a position, up to a limit. Without a position, from the start of the list.
    package func answer<Position: LosslessStringConvertible, Element: Listed & AnswerValue & Sendable>(
        naming keys: [String: String] = [:],
        at position: (Element) -> Position,
        ifEmpty unknownUser: () async throws -> UnknownUser? = { nil },
        _ elements: (_ after: Position?, _ limit: Int) async throws -> [Element]
    ) async throws -> Response {
        let (shown, next) = try await list(at: position, elements)
        let unknown = shown.isEmpty ? try await unknownUser() : nil
        return try List(shown, nextCursor: next, of: unknown).answer(naming: keys)
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

extension Parameters {
    /// The default maximum length of a path component, in bytes of UTF-8 after decoding.
    package static let maximumLength = 256

    /// Returns a path component, percent-decoded.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8, after decoding.
    /// - Throws: `Problem` with the code `notFound` if the component is too long or contains NUL. No resource has such
    ///   a name.
    package func text(_ name: String, upTo maximumLength: Int = maximumLength) throws -> String {
        let text = try require(name)
        let decoded = text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text
        guard decoded.utf8.count <= maximumLength, !decoded.utf8.contains(0) else { throw Problem.pathUnknown }
        return decoded
    }
}

extension Request {
    /// Returns the first day of the month that a parameter of the query names, such as `2027-03`. Nil without the parameter.
    ///
    /// - Throws: `Problem` with the code `parameterInvalid` for another text, and for a month before 1971.
    package func queriedMonth(_ name: String) throws(Problem) -> CalendarDay? {
        guard let text = try query(name) else { return nil }
        guard let day = CalendarDay(text + "-01"), day.daysSince1970 > 364 else {
            throw .parameter(name, "a month such as 2027-03")
        }
        return day
    }

    /// Returns the day that a parameter of the query names, such as `2026-10-31`. Nil without the parameter.
    ///
    /// - Throws: `Problem` with the code `parameterInvalid` for another text.
    package func queriedDay(_ name: String) throws(Problem) -> CalendarDay? {
        guard let text = try query(name) else { return nil }
        guard let day = CalendarDay(text) else { throw .parameter(name, "a date such as 2026-10-31") }
        return day
    }

    /// Returns the number of a query parameter, or `standard` if it is missing.
    ///
    /// - Throws: `Problem` with the code `parameterInvalid` for another text, and for a number outside the range.
    package func queriedNumber<Number: FixedWidthInteger>(
        _ name: String, in range: ClosedRange<Number>, else standard: Number
    ) throws(Problem) -> Number {
        guard let text = try query(name) else { return standard }
        guard let number = Number(text), range.contains(number) else {
            throw .parameter(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The default maximum length of a query parameter, in bytes of UTF-8.
    package static let maximumParameterLength = 256

    /// Returns the value of a query parameter, or nil if it is missing.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    /// - Throws: `Problem` with the code `parameterInvalid` if the value is too long or contains NUL.
    package func query(_ name: String, upTo maximumLength: Int = maximumParameterLength) throws(Problem) -> String? {
        guard uri.string.utf8.contains(UInt8(ascii: "?")), let value = uri.queryParameters[Substring(name)] else {
            return nil
        }
        guard value.utf8.count <= maximumLength, !value.utf8.contains(0) else {
            throw .parameter(name, "at most \(maximumLength) bytes, without NUL")
        }
        return String(value)
    }

    /// Returns the word of a query parameter, or nil if it is missing.
    ///
    /// - Throws: `Problem` with the code `parameterInvalid` for another word.
    package func query<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        as type: Word.Type = Word.self
    ) throws(Problem) -> Word? {
        guard let text = try query(name) else { return nil }
        guard let word = Word(listed: text) else {
            throw .parameter(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
