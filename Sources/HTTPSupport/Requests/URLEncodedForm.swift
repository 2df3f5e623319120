import Catalog
import Foundation
import Hummingbird
import Proofs

/// A form in the encoding `application/x-www-form-urlencoded` (URL Standard section 5.1), parsed by bytes.
package struct URLEncodedForm {
    /// The decoded names and values, in their order.
    package let fields: [(name: ArraySlice<UInt8>, value: [UInt8])]

    /// - Parameter maximumFields: The maximum number of fields.
    /// - Returns: Nil for a form with too many fields.
    package init?(_ bytes: [UInt8], upTo maximumFields: Int = 64) {
        var fields: [(name: ArraySlice<UInt8>, value: [UInt8])] = []
        // The last part has all further fields, so many tiny fields need little memory.
        for part in bytes.split(separator: UInt8(ascii: "&"), maxSplits: maximumFields) {
            guard fields.count < maximumFields else { return nil }
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            fields.append((Self.decode(part[..<end])[...], Self.decode(part[end...].dropFirst())))
        }
        self.fields = fields
    }

    /// The first value of a name; nil if the form has none.
    package subscript(name: String) -> [UInt8]? {
        fields.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if let high = rest.first.flatMap(digit), let low = rest.dropFirst().first.flatMap(digit) {
                    decoded.append(high << 4 | low)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
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
        guard let word = Word(rawValue: text) else {
            throw .parameter(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
