import Foundation
import Proofs
import Vocabulary

/// A value inside a catalog file and its path, so that every error names its place.
struct CatalogReader {
    let file: String
    var path: String = ""
    let value: JSONValue
    /// The storefront's currency, for prices.
    var currency = ""

    /// - Throws: `CatalogError` if the file is missing or cannot be read.
    static func bytes(of file: URL) throws(CatalogError) -> [UInt8] {
        if let bytes = NamedFile.bytes(of: file) { return bytes }
        let isThere = FileManager.default.fileExists(atPath: file.path)
        throw CatalogError(file: file.path, reason: isThere ? "the file cannot be read" : "the file is missing")
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
        case .some(let value): return CatalogReader(file: file, path: path(of: key), value: value, currency: currency)
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
            CatalogReader(file: file, path: "\(path)[\(index)]", value: element, currency: currency)
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

    /// Reads a file that a catalog's folder may have.
    ///
    /// - Parameter maximumSize: The largest size of the file, in bytes.
    /// - Returns: Nil if the folder does not have the file.
    init?(optional name: String, in folder: URL, upTo maximumSize: Int) throws(CatalogError) {
        let file = folder.appending(path: name, directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let bytes = try Self.bytes(of: file)
        guard bytes.count <= maximumSize else {
            throw CatalogError(file: file.path, reason: "it is larger than \(maximumSize / 1024) KB")
        }
        try self.init(file: file.path, json: bytes)
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

extension CatalogReader {
    /// The maximum length of a name, in bytes.
    private static let maximumName = 128
    /// The maximum length of a description, in bytes.
    private static let maximumDescription = 1024

    /// Checks that an object has only known keys.
    ///
    /// - Parameter others: Further keys, which no error suggests.
    /// - Throws: `CatalogError` for an unknown key, with the nearest known one.
    func check(keys: [String], and others: [String] = []) throws(CatalogError) {
        let object = try object()
        let known = Set((keys + others).map { ByteKey($0) })
        guard let unknown = object.keys.first(where: { !known.contains(ByteKey($0)) }) else { return }
        let shown = String(unknown.unicodeScalars.prefix(64).map(Character.init))
        throw CatalogError(
            file: file, key: path(of: shown),
            reason: "the key is unknown" + Self.suggestion(for: unknown, among: keys))
    }

    /// The clause of an error that names the nearest known name; empty if none is near.
    static func suggestion(for misspelt: String, among names: [String]) -> String {
        Suggestion.nearest(to: misspelt, among: names).map { "; the nearest known one is \"\($0)\"" } ?? ""
    }

    /// The elements of an array of limited length.
    func elements(upTo maximum: Int) throws(CatalogError) -> [CatalogReader] {
        let elements = try elements()
        guard elements.count <= maximum else {
            throw failure("it has \(elements.count) elements; at most \(maximum) are allowed")
        }
        return elements
    }

    /// The name of a right, an offering or a package. It can be a segment of a path.
    func name() throws(CatalogError) -> String {
        let name = try string()
        guard name.utf8.count <= Self.maximumName,
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control && $0 != "/" }),
            name.utf8.contains(where: { $0 != UInt8(ascii: ".") })
        else {
            throw failure("a name has up to \(Self.maximumName) bytes, no slash and no control characters")
        }
        return name
    }

    func description() throws(CatalogError) -> String {
        let text = try text()
        guard text.utf8.count <= Self.maximumDescription else {
            throw failure("a description has up to \(Self.maximumDescription) bytes")
        }
        return text
    }

    /// An object of limited size, as JSON text without white space.
    func object(upTo maximum: Int) throws(CatalogError) -> JSONObject {
        let object = try object()
        guard value.compactText.utf8.count <= maximum else {
            throw failure("it is larger than \(maximum) bytes")
        }
        return object
    }

    /// The benefit of the product that a text identifies.
    func benefit(in catalog: Catalog) throws(CatalogError) -> Benefit {
        let identifier = try string()
        guard let benefit = catalog.benefit(of: identifier) else {
            throw failure(
                "the catalog has no product \(identifier)"
                    + Self.suggestion(for: identifier, among: catalog.products.map(\.productIdentifier)))
        }
        return benefit
    }

    /// The same object with its name under a key.
    ///
    /// - Throws: `CatalogError` if the object has another name.
    func naming(_ key: String, _ name: String) throws(CatalogError) -> CatalogReader {
        guard case .object(var object) = value else { return self }
        if let given = try optional(key), try !given.string().hasSameBytes(as: name) {
            throw given.failure("it has to be \(name), or left out")
        }
        _ = object.add(key, .string(name))
        return CatalogReader(file: file, path: path, value: .object(object))
    }
}

extension [CatalogReader] {
    /// Reads elements that must differ.
    ///
    /// - Parameter read: Returns the value of an element, and the text in which it differs from the others.
    func unique<Value>(
        _ read: (CatalogReader) throws(CatalogError) -> (Value, String)
    ) throws(CatalogError) -> [Value] {
        var known: Set<ByteKey> = []
        var values: [Value] = []
        for element in self {
            let (value, text) = try read(element)
            guard known.insert(ByteKey(text)).inserted else { throw element.failure("\(text) is there twice") }
            values.append(value)
        }
        return values
    }
}
