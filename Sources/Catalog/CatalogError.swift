import Proofs

/// An error in a catalog's files: the file, the key and the reason.
public struct CatalogError: CodedError, Equatable {
    public let file: String
    /// The path of the key inside the file, such as `products[2].displayPrice`; nil if the whole file is wrong.
    public let key: String?
    public let reason: String

    public init(file: String, key: String? = nil, reason: String) {
        self.file = file
        self.key = key
        self.reason = reason
    }

    public var code: String { "catalogInvalid" }

    public var message: String {
        key.map { "\(file): \($0): \(reason)." } ?? "\(file): \(reason)."
    }
}
