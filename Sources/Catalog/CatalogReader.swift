import Foundation
import Proofs

/// A value inside a catalog file and its path, so that every error names its place.
struct CatalogReader {
    let file: String
    var path: String = ""
    let value: JSONValue

    /// - Throws: `CatalogError` if the file is missing or cannot be read.
    static func bytes(of file: URL) throws(CatalogError) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: file))
        } catch {
            let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
            throw CatalogError(file: file.path, reason: isMissing ? "the file is missing" : "the file cannot be read")
        }
    }

    func failure(_ reason: String) -> CatalogError {
        CatalogError(file: file, key: path.isEmpty ? nil : path, reason: reason)
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The value of a key; nil if it is absent or null.
    func optional(_ key: String) throws(CatalogError) -> CatalogReader? {
        let object = try object()
        switch object[key] {
        case nil, .null: return nil
        case .some(let value): return CatalogReader(file: file, path: path(of: key), value: value)
        }
    }

    func required(_ key: String) throws(CatalogError) -> CatalogReader {
        guard let child = try optional(key) else {
            throw CatalogError(file: file, key: path(of: key), reason: "the key is missing")
        }
        return child
    }

    func object() throws(CatalogError) -> JSONObject {
        guard case .object(let object) = value else { throw mismatch("an object") }
        return object
    }

    func elements() throws(CatalogError) -> [CatalogReader] {
        guard case .array(let elements) = value else { throw mismatch("an array") }
        return elements.enumerated().map { index, element in
            CatalogReader(file: file, path: "\(path)[\(index)]", value: element)
        }
    }

    /// A text that may be empty.
    func text() throws(CatalogError) -> String {
        guard case .string(let text) = value else { throw mismatch("text in quotes") }
        return text
    }

    func string() throws(CatalogError) -> String {
        let text = try text()
        guard !text.isEmpty else { throw failure("the text is empty") }
        return text
    }

    /// The text of a key; nil if it is absent, null or empty.
    func optionalString(_ key: String) throws(CatalogError) -> String? {
        guard let text = try optional(key)?.text(), !text.isEmpty else { return nil }
        return text
    }

    func bool() throws(CatalogError) -> Bool {
        guard case .bool(let bool) = value else { throw mismatch("true or false") }
        return bool
    }

    /// A whole number that is not negative.
    func count() throws(CatalogError) -> Int {
        guard case .number(let number) = value, let count = number.int64, count >= 0 else {
            throw mismatch("a whole number, 0 or more")
        }
        return Int(count)
    }

    private func mismatch(_ expected: String) -> CatalogError {
        failure("it should be \(expected); it is \(value.kind)")
    }
}

extension CatalogReader {
    /// - Throws: `CatalogError` if the bytes are not JSON.
    init(file: String, json bytes: [UInt8]) throws(CatalogError) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes) } catch {
            throw CatalogError(file: file, reason: "it is not JSON: \(error.message)")
        }
        self.init(file: file, value: value)
    }

    /// - Throws: `CatalogError` if the file is missing, cannot be read or is not JSON.
    init(contentsOf file: URL) throws(CatalogError) {
        try self.init(file: file.path, json: try Self.bytes(of: file))
    }
}

/// An error in a catalog's files: the file, the key and the reason.
package struct CatalogError: RuledError, Equatable {
    package let file: String
    /// The path of the key inside the file, such as `products[2].displayPrice`; nil if the whole file is wrong.
    package let key: String?
    package let reason: String

    package init(file: String, key: String? = nil, reason: String) {
        self.file = file
        self.key = key
        self.reason = reason
    }

    package var rule: ErrorRule {
        ErrorRule(
            "catalogInvalid", .failed, hasReason: true,
            key.map { "\(file): \($0): \(reason)." } ?? "\(file): \(reason).",
            korean: "카탈로그가 올바르지 않습니다.")
    }
}
