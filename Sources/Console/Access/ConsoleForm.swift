import HTTPSupport
import Hummingbird
import Proofs

/// The fields of a form that the browser sent, each limited in bytes before anything else reads it.
struct ConsoleForm: Sendable {
    /// The name of the field with the token against forgery.
    static let tokenField = "form-token"
    /// The maximum size of a form, in bytes: a proof, or a picture.
    static let maximumSize = BodyBudget.largestBody
    /// The maximum size of a visitor's form, in bytes.
    static let maximumSizeOfVisitors = JSONBody.sizeWithoutCredential
    /// The maximum number of fields: those of a product in all languages of the App Store.
    private static let maximumFields = 256

    private var fields: [(name: String, bytes: [UInt8])] = []

    init() {}

    /// - Parameter maximumSize: The maximum size of the form, in bytes.
    /// - Throws: `Problem`, `formInvalid`, `mediaTypeUnsupported`; `HTTPError` if the form is too large.
    init(_ request: Request, _ context: ServiceContext, upTo maximumSize: Int) async throws {
        if request.headers[.contentType]?.hasPrefix("multipart/form-data") == true {
            fields = try await MultipartForm(request, context, upTo: maximumSize).parts.map { ($0.name, $0.bytes) }
            return
        }
        let bytes = try await RequestBytes.collect(request, context, upTo: maximumSize)
        let form = try await BlockingWork.process(bytes.count) { URLEncodedForm(bytes, upTo: Self.maximumFields) }
        guard let form else {
            throw Problem(status: .badRequest, code: "formInvalid", detail: "The form has too many fields.")
        }
        fields = form.fields.map { (String(decoding: $0.name, as: UTF8.self), $0.value) }
    }

    /// The bytes of a field. Nil if the form lacks it.
    func bytes(_ name: String) -> [UInt8]? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.bytes
    }

    /// The text of a field without spaces at its ends. Empty if the form lacks it.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    /// - Throws: `Problem`, `fieldInvalid`, if the text is longer, is not UTF-8 or contains NUL.
    func text(_ name: String, upTo maximumLength: Int = JSONBody.maximumLength) throws(Problem) -> String {
        guard let bytes = bytes(name) else { return "" }
        guard bytes.count <= maximumLength, !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self)
        else { throw Self.invalid(name, "at most \(maximumLength) bytes, without NUL") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The text of a field that must not be empty.
    func requiredText(_ name: String, upTo maximumLength: Int = JSONBody.maximumLength) throws(Problem) -> String {
        let text = try text(name, upTo: maximumLength)
        guard !text.isEmpty else { throw Self.invalid(name, "not empty") }
        return text
    }

    /// A password, with its spaces.
    func password(_ name: String) throws(Problem) -> String {
        guard let bytes = bytes(name) else { throw Self.invalid(name, "not empty") }
        guard bytes.count <= JSONBody.maximumCredentialLength, let text = String(validating: bytes, as: UTF8.self)
        else { throw Self.invalid(name, "at most \(JSONBody.maximumCredentialLength) bytes") }
        return text
    }

    /// The integer of a field. Nil if the field is empty.
    func integer(_ name: String) throws(Problem) -> Int? {
        let text = try text(name)
        guard !text.isEmpty else { return nil }
        guard let number = Int(text) else { throw Self.invalid(name, "a whole number") }
        return number
    }

    func isChecked(_ name: String) -> Bool { bytes(name) != nil }

    static func invalid(_ name: String, _ expected: String) -> Problem {
        Problem(
            status: .unprocessableContent, code: "fieldInvalid", detail: "The field \"\(name)\" must be \(expected).")
    }

    /// The reason of a change, which the audit log keeps.
    func reason(_ name: String = "reason") throws(Problem) -> String {
        let text = try text(name, upTo: Reason.maximumSize)
        guard Reason.isReason(text) else { throw Self.invalid(name, "a text of \(Reason.rule)") }
        return text
    }
}

extension Request {
    /// The text of a parameter. Nil for an empty one, which a form sends for what it leaves open.
    func chosen(_ name: String, upTo maximumLength: Int = maximumParameterLength) throws(Problem) -> String? {
        let text = try query(name, upTo: maximumLength)
        return text?.isEmpty == true ? nil : text
    }

    /// The origin of a row to which a page links, also of a store that Till does not know; nil without one. It is looked up in the
    /// ledger, and accepted for nothing.
    func recordedOrigin() throws(Problem) -> Origin? {
        if let origin = try query("origin").flatMap(Origin.init(rawValue:)) { return origin }
        return try query("origin", as: Origin.self)
    }

    /// The store of rows that a page lists, also one that Till does not know; nil for all.
    func recordedStore() throws(Problem) -> PurchaseStore? {
        if let store = try chosen("store").flatMap(PurchaseStore.init(rawValue:)) { return store }
        return try chosen("store") as PurchaseStore?
    }

    /// The word of a parameter; nil for an empty one.
    func chosen<Word: CaseIterable & RawRepresentable<String>>(_ name: String) throws(Problem) -> Word? {
        try chosen(name) == nil ? nil : try query(name)
    }
}
