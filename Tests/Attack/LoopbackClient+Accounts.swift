import Foundation
import NIOCore
import Service
import TestSupport

extension LoopbackClient {
    struct SignUpRefused: Error, CustomStringConvertible {
        let description: String
    }

    /// The longest wait for an account: the service hashes passwords one after the other.
    private static let signUpLimit = TimeAmount.seconds(20)

    /// Signs up a new user.
    ///
    /// - Parameter name: The first part of the e-mail address.
    /// - Returns: The user's access token.
    func signUp(_ name: String) -> EventLoopFuture<String> {
        let request = ByteBuffer.request(
            "POST", "/v1/accounts", fields: ["Connection": "close"],
            json: #"{"email":"\#(name)@example.com","password":"correct horse"}"#)
        return exchange(request, within: Self.signUpLimit).flatMapThrowing { answer in
            guard answer.status == 201 else {
                throw SignUpRefused(description: "POST /v1/accounts returned \(answer.status): \(answer.body)")
            }
            return try JSONDecoder().decode(EntranceResource.self, from: Data(answer.body.utf8)).tokens.accessToken
        }
    }
}
