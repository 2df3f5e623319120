import Proofs
import Vocabulary

/// The hashing of passwords, and the comparison with stored hashes.
///
/// Both use the processor, not the ledger, and are slow by design. The caller runs them on threads that block nothing else.
package struct Passwords: Sendable {
    private let randomness: Randomness
    private let cost: PasswordHash.Cost
    /// The hash of no password. It is compared for unknown names, so that they take as long.
    private let decoy: PasswordHash

    package init(randomness: Randomness, cost: PasswordHash.Cost) {
        self.randomness = randomness
        self.cost = cost
        decoy = PasswordHash(decoyFrom: randomness.bytes(32), cost: cost)
    }

    /// The hash of a new password, in the format of `PasswordHash`.
    package func hash(_ password: Password) throws(CredentialError) -> String {
        do {
            return try PasswordHash(password.text, salt: randomness.bytes(16), cost: cost).description
        } catch {
            throw .passwordNotHashed
        }
    }

    /// True if a password has a stored hash. This takes as long as a hash, with or without a stored one.
    ///
    /// - Parameter stored: Nil for an unknown name, and before the first password.
    package func matches(_ password: String, _ stored: String?) throws(CredentialError) -> Bool {
        // A password above the limit matches no hash. It takes as long as any other.
        let isShort = password.utf8.count <= Password.maximumLength
        let text = isShort ? Password.composed(password) : ""
        let hash = stored.flatMap { PasswordHash($0) }
        do {
            return try (hash ?? decoy).matches(text) && isShort && hash != nil
        } catch {
            throw .passwordNotHashed
        }
    }
}

package enum CredentialError: String, RuledError, CaseIterable {
    /// The password of a logged-in person is wrong, or was changed meanwhile.
    case passwordWrong
    /// There was too little memory to hash a password.
    case passwordNotHashed

    package var rule: ErrorRule {
        switch self {
        case .passwordWrong:
            ErrorRule(
                rawValue, .forbidden, "The password is wrong. Nothing was changed.",
                korean: "비밀번호가 올바르지 않습니다. 아무것도 바꾸지 않았습니다.")
        case .passwordNotHashed:
            ErrorRule(
                rawValue, .unavailable, mayRetry: true,
                "The service has too little memory to hash the password. Try again later.",
                korean: "메모리가 부족해 비밀번호를 처리할 수 없습니다. 나중에 다시 시도하세요.")
        }
    }
}
