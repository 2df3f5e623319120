/// The error of a new password that does not follow the rules.
public enum PasswordError: CodedError, Equatable {
    case passwordTooShort
    case passwordTooLong
    case passwordTooCommon
    /// The password is the e-mail address of the account, its local part, or the name of the account.
    case passwordLikeEmail

    public var code: String {
        switch self {
        case .passwordTooShort: "passwordTooShort"
        case .passwordTooLong: "passwordTooLong"
        case .passwordTooCommon: "passwordTooCommon"
        case .passwordLikeEmail: "passwordLikeEmail"
        }
    }

    public var message: String {
        switch self {
        case .passwordTooShort: "The password must have at least \(Password.minimumLength) characters."
        case .passwordTooLong: "The password is longer than \(Password.maximumLength) bytes."
        case .passwordTooCommon: "The password is too common. Choose another."
        case .passwordLikeEmail:
            "The password is the name or the e-mail address of the account, or its part before the @. Choose another."
        }
    }
}
