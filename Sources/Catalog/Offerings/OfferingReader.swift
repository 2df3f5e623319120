import Proofs

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
