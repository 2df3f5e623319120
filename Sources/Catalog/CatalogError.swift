import Proofs

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
            "catalogInvalid", .failed, key.map { "\(file): \($0): \(reason)." } ?? "\(file): \(reason).",
            korean: "카탈로그가 올바르지 않습니다.")
    }
}
