import Proofs

/// The error of a use case of accounts or sessions.
package enum AccountError: CodedError, Equatable {
    case emailInvalid
    case emailTooLong
    case emailTaken
    /// The address has no account, or the password is wrong. The error does not say which, for security.
    case credentialsWrong
    /// The password of a logged-in user is wrong.
    case passwordWrong
    case refreshTokenInvalid
    case refreshTokenExpired
    case refreshTokenReused
    case accountNotFound
    /// The link is unknown, used, or for another purpose.
    case linkInvalid
    case linkExpired
    /// The account has verified its address already.
    case emailVerified
    case emailUnchanged
    /// The mail limit of the address or the account is reached.
    case mailTooOften
    /// There was too little memory to hash a password.
    case passwordNotHashed

    package var code: String {
        switch self {
        case .emailInvalid: "emailInvalid"
        case .emailTooLong: "emailTooLong"
        case .emailTaken: "emailTaken"
        case .credentialsWrong: "credentialsWrong"
        case .passwordWrong: "passwordWrong"
        case .refreshTokenInvalid: "refreshTokenInvalid"
        case .refreshTokenExpired: "refreshTokenExpired"
        case .refreshTokenReused: "refreshTokenReused"
        case .accountNotFound: "accountNotFound"
        case .linkInvalid: "linkInvalid"
        case .linkExpired: "linkExpired"
        case .emailVerified: "emailVerified"
        case .emailUnchanged: "emailUnchanged"
        case .mailTooOften: "mailTooOften"
        case .passwordNotHashed: "passwordNotHashed"
        }
    }

    package var message: String {
        switch self {
        case .emailInvalid: "The e-mail address is invalid. It must have the form name@example.com."
        case .emailTooLong: "The e-mail address is longer than \(EmailAddress.maximumLength) bytes."
        case .emailTaken: "The e-mail address has an account. Log in, or sign up with another."
        case .credentialsWrong: "No account has this e-mail address and password."
        case .passwordWrong: "The password is wrong. Nothing was changed."
        case .refreshTokenInvalid: "The refresh token is unknown, or its session has ended. Log in."
        case .refreshTokenExpired: "The refresh token has expired. Log in."
        case .refreshTokenReused:
            "The refresh token was used before, so it may be stolen. Its session was ended; log in."
        case .accountNotFound: "The user has no account of this service."
        case .linkInvalid: "The link is unknown, used, or for another purpose. Ask for a new one."
        case .linkExpired: "The link has expired. Ask for a new one."
        case .emailVerified: "The account has verified its e-mail address already. Nothing was changed."
        case .emailUnchanged: "The account already has this e-mail address. Give another one."
        case .mailTooOften: "The limit of mails per hour is reached. Look for the earlier mails, or wait."
        case .passwordNotHashed: "The service has too little memory to hash the password. Try again later."
        }
    }
}
