import Features
import HTTPSupport

extension APIOperation {
    static let accounts = [
        signUp, checkEmail, askForReset, resetPassword, confirmAddress, releaseAddress, logIn, renewSession, logOut,
        getAccount, changePassword, askForVerification, changeEmail,
    ]

    /// The operations that need a mailer, too.
    static let mailedLinks = [
        askForReset, resetPassword, confirmAddress, releaseAddress, askForVerification, changeEmail,
    ]

    static let signUp = APIOperation(
        .post, "/v1/accounts", for: .anybody,
        "signUp", "Signs up with e-mail and password",
        details: "Only with `till serve --accounts`.",
        body: .json(.credentials),
        answers: [.json("The new account and its first session.", AccountService.Entrance.self, status: 201)],
        or: [.conflict, .refused, .tooManyRequests])

    static let checkEmail = APIOperation(
        .post, "/v1/accounts/availability", for: .anybody, usesReserve: true,
        "checkEmail", "Checks whether an e-mail address is free",
        body: .json(["email": .text("An e-mail address.", upTo: 256)]).described("An address."),
        answers: [.json("The availability.", Availability.self)],
        or: [.refused, .tooManyRequests])

    static let askForReset = APIOperation(
        .post, "/v1/accounts/recovery", for: .anybody,
        "askForReset", "Sends a link to reset the password",
        details:
            "Only if mail is configured. The answer is the same for an address without an account or above its mail limit. `Accept-Language` selects the language of the mail.",
        body: .json(["email": .text("An e-mail address.", upTo: 256)]).described("An address."),
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.refused, .tooManyRequests])

    static let resetPassword = APIOperation(
        .post, "/v1/accounts/password", for: .anybody,
        "resetPassword", "Sets a new password by a mailed link",
        details: "Only if mail is configured. All sessions of the account end.",
        body: .json([
            "token": .text("The token of the link.", upTo: 256),
            "password": .text("The new password: at least 8 characters, at most 256 bytes.", upTo: 256),
        ]).described("The link's token and the password."),
        answers: [.empty("The password is set, and the address is verified.")],
        or: [.refused, .tooManyRequests])

    static let confirmAddress = APIOperation(
        .post, "/v1/accounts/confirmation", for: .anybody,
        "confirmAddress", "Confirms an address by a mailed link",
        details: "Only if mail is configured. A change of address must be confirmed at both addresses.",
        body: .json(.linkToken),
        answers: [.json("The result.", ConfirmedAddress.self)],
        or: [.conflict, .refused, .tooManyRequests])

    static let releaseAddress = APIOperation(
        .post, "/v1/accounts/release", for: .anybody,
        "releaseAddress", "Removes an address from another person's account, by the link that verifies it",
        details: "Only if mail is configured. The account stays, without an address.",
        body: .json(.linkToken),
        answers: [.empty("The address has no account now.")],
        or: [.conflict, .refused, .tooManyRequests])

    static let logIn = APIOperation(
        .post, "/v1/sessions", for: .anybody,
        "logIn", "Logs in",
        body: .json(.credentials),
        answers: [.json("The account and a new session.", AccountService.Entrance.self, status: 201)],
        or: [.unauthorized, .tooManyRequests])

    static let renewSession = APIOperation(
        .post, "/v1/sessions/renewal", for: .anybody, usesReserve: true,
        "renewSession", "Renews a session by its refresh token",
        body: .json(.refreshToken),
        answers: [.json("The new tokens.", Renewal.self)],
        or: [.unauthorized])

    static let logOut = APIOperation(
        .post, "/v1/sessions/end", for: .anybody, usesReserve: true,
        "logOut", "Logs out",
        body: .json(.refreshToken),
        answers: [.empty("The session has ended.")],
        or: [.unauthorized])

    static let getAccount = APIOperation(
        .get, "/v1/me/account", for: .app,
        "getAccount", "Returns the account",
        answers: [.json("The account.", AccountRecord.self)])

    static let changePassword = APIOperation(
        .put, "/v1/me/account/password", for: .app,
        "changePassword", "Changes the password",
        body: .json([
            "password": .text("The current password.", upTo: 256),
            "newPassword": .text("The new password.", upTo: 256),
        ]).described("The passwords."),
        answers: [.empty("The password is changed, and every other session has ended.")],
        or: [.refused])

    static let askForVerification = APIOperation(
        .post, "/v1/me/account/verification", for: .app,
        "askForVerification", "Sends a link to verify the account's address",
        details:
            "Only if mail is configured. A new account gets this mail automatically. `Accept-Language` selects the language of the mail.",
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.conflict])

    static let changeEmail = APIOperation(
        .put, "/v1/me/account/email", for: .app,
        "changeEmail", "Sends links to change the account's address",
        details:
            "Only if mail is configured. The address changes after both addresses have confirmed. An unverified old address need not confirm. `Accept-Language` selects the language of the mails.",
        body: .json([
            "password": .text("The password.", upTo: 256),
            "email": .text("The new e-mail address.", upTo: 256),
        ]).described("The password and the new address."),
        answers: [.empty("The mail is queued, if one is to be sent.", status: 202)],
        or: [.refused])
}

extension Schema {
    static let credentials = Schema.object("An e-mail address and a password.", named: "Credentials").fields([
        "email": .text("An e-mail address.", upTo: 254),
        "password": .text("The new password: at least 8 characters, at most 256 bytes.", upTo: 256),
    ]).closed

    static let refreshToken = Schema.object("The refresh token of a session.", named: "RefreshToken").fields([
        "refreshToken": .text("The latest refresh token.", upTo: 256)
    ]).closed

    static let linkToken = Schema.object("The token of a mailed link.", named: "LinkToken").fields([
        "token": .text("The token of the link.", upTo: 256)
    ]).closed
}
