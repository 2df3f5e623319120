import HTTPSupport

/// The body of `POST /v1/subscribers/identify`.
package struct LogInRequest: Hashable, Sendable {
    /// The current user, usually an anonymous one.
    package let user: String
    package let newUser: String

    package init(_ body: [UInt8]) throws(Problem) {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        newUser = try members.text("new_app_user_id")
    }
}
