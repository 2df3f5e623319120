import Foundation
import Proofs
import Vocabulary

/// A new password that follows the rules: long enough, and not common (NIST SP 800-63B section 3.1.1). Any characters are
/// allowed.
public struct Password: Sendable {
    /// The minimum length, in characters.
    public static let minimumLength = 8
    /// The maximum length, in bytes of UTF-8. It allows any sentence and keeps hashing cheap.
    public static let maximumLength = 256

    /// The normalized text (NFKC), which is the same from every keyboard.
    public let text: String

    /// - Parameter names: The names of the account in lower case, which are no passwords.
    public init(_ text: String, unlike names: [String]) throws(PasswordError) {
        guard text.utf8.count <= Self.maximumLength else { throw .passwordTooLong }
        let text = Self.composed(text)
        guard text.count >= Self.minimumLength else { throw .passwordTooShort }
        let folded = text.lowercased()
        guard !Self.isCommon(folded) else { throw .passwordTooCommon }
        guard !names.contains(where: { ByteKey($0) == ByteKey(folded) }) else { throw .passwordLikeEmail }
        self.text = text
    }

    /// The normalized form of a password, for new passwords and log-ins.
    public static func composed(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping
    }

    /// True if a password is common, or a sequence such as `abcdefgh` or `11111111`.
    private static func isCommon(_ folded: String) -> Bool {
        let scalars = folded.unicodeScalars.map { Int($0.value) }
        let steps = Set(zip(scalars, scalars.dropFirst()).map { $1 - $0 })
        return steps.count == 1 && [-1, 0, 1].contains(steps.first) || common.contains(folded)
    }

    /// Common passwords of at least eight characters, from lists of leaked passwords.
    private static let common: Set<String> = [
        "password", "password1", "password12", "password123", "password1234", "passw0rd", "p@ssw0rd", "p@ssword",
        "1234567890", "0123456789", "0987654321", "9876543210", "12345678910", "123123123", "12341234", "11223344",
        "112233445566", "123321123", "1234554321", "147258369", "159357159", "123654789", "987654321", "12344321",
        "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "1qaz2wsx3edc", "q1w2e3r4", "q1w2e3r4t5", "zaq12wsx", "qazwsxedc",
        "qwertyui", "qwertyuiop", "qwerty12", "qwerty123", "qwerty1234", "qwertz123", "azertyuiop", "asdfghjk",
        "asdfghjkl", "asdf1234", "asdfasdf", "zxcvbnm123", "zxcvbnm1", "1234qwer", "qwer1234", "q1q1q1q1",
        "iloveyou", "iloveyou1", "ilovegod", "sunshine", "princess", "football", "baseball", "superman", "starwars",
        "computer", "internet", "whatever", "welcome1", "welcome123", "letmein1", "letmein123", "trustno1",
        "admin123", "admin1234", "administrator", "changeme", "changeme1", "secret123", "test1234", "testtest",
        "user1234", "default1", "samsung1", "samsung123", "michelle", "jennifer", "jessica1", "michael1", "ashley123",
        "charlie1", "liverpool", "chelsea1", "barcelona", "realmadrid", "pokemon1", "pokemon123", "minecraft",
        "fuckyou1", "killer123", "monkey123", "dragon123", "master123", "shadow123", "hello123", "helloworld",
        "freedom1", "blink182", "corvette", "mercedes", "maverick", "midnight", "mountain", "elephant", "einstein",
        "december", "november", "september", "football1", "baseball1", "princess1", "sunshine1", "abcd1234",
        "abc12345", "abcabcabc", "aa123456", "a1b2c3d4", "a1234567", "a12345678", "a123456789", "aaaaaaaa1",
        "88888888a", "qq123456", "woaini1314", "5201314520", "7758521520", "dkssud1234", "dkssudgktpdy", "rkskekfk",
        "tkfkdgo123", "1q2w3e4r!", "qwer1234!", "asdf1234!", "abcd1234!", "password!", "password1!",
    ]
}

/// The error of a new password that does not follow the rules.
public enum PasswordError: String, CodedError, RuledError, CaseIterable {
    case passwordTooShort
    case passwordTooLong
    case passwordTooCommon
    /// The password is the e-mail address of the account, its local part, or the name of the account.
    case passwordLikeEmail

    public var code: String { rawValue }
    public var message: String { rule.sentence }

    package var rule: ErrorRule {
        switch self {
        case .passwordTooShort:
            ErrorRule(
                rawValue, .unprocessable, "The password must have at least \(Password.minimumLength) characters.",
                korean: "비밀번호는 \(Password.minimumLength)자 이상이어야 합니다.")
        case .passwordTooLong:
            ErrorRule(
                rawValue, .unprocessable, "The password is longer than \(Password.maximumLength) bytes.",
                korean: "비밀번호가 \(Password.maximumLength)바이트를 넘습니다.")
        case .passwordTooCommon:
            ErrorRule(
                rawValue, .unprocessable, "The password is too common. Choose another.",
                korean: "너무 흔한 비밀번호입니다. 다른 비밀번호를 고르세요.")
        case .passwordLikeEmail:
            ErrorRule(
                rawValue, .unprocessable,
                "The password is the name or the e-mail address of the account, or its part before the @. Choose another.",
                korean: "비밀번호가 계정의 이름이나 이메일 주소, 또는 그 @ 앞부분과 같습니다. 다른 비밀번호를 고르세요.")
        }
    }
}
