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
