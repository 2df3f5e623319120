import Foundation
import NIOCore

/// The requests of RevenueCat's SDKs with an app's public key.
struct DoorRequests: Sendable {
    /// The option of `till serve` that opens the door.
    static let serviceOptions = ["--doors", "revenuecat"]

    let key: String
    /// The client's address, as a proxy states it; nil without a proxy.
    var client: String?

    private var fields: KeyValuePairs<String, String> {
        guard let client else { return ["Authorization": "Bearer \(key)"] }
        return ["Authorization": "Bearer \(key)", "X-Forwarded-For": client]
    }

    /// The requests of a client behind a proxy.
    func from(_ client: String) -> DoorRequests { DoorRequests(key: key, client: client) }

    /// Presents a proof of purchases.
    ///
    /// - Parameters:
    ///   - proof: A signed transaction, or a receipt in base64.
    ///   - attributes: The attributes as JSON.
    func receipt(_ proof: String, of customer: String, attributes: String = "{}") -> ByteBuffer {
        post(
            "/v1/receipts",
            #"{"app_user_id":"\#(customer)","fetch_token":"\#(proof)","attributes":\#(attributes)}"#)
    }

    /// Asks for the state of a purchase of Google Play, at the door `iapkit`.
    func verify(_ token: String) -> ByteBuffer {
        post("/v1/purchase/verify", #"{"store":"google","purchaseToken":"\#(token)"}"#)
    }

    /// States attributes.
    ///
    /// - Parameter attributes: The attributes as JSON.
    func attributes(_ attributes: String, of customer: String) -> ByteBuffer {
        post("/v1/subscribers/\(customer)/attributes", #"{"attributes":\#(attributes)}"#)
    }

    func logIn(_ current: String, as new: String) -> ByteBuffer {
        post("/v1/subscribers/identify", #"{"app_user_id":"\#(current)","new_app_user_id":"\#(new)"}"#)
    }

    /// Reads customer info.
    func customer(_ customer: String) -> ByteBuffer { get("/v1/subscribers/\(customer)") }

    /// A request that the door answers without reading anything.
    var configuration: ByteBuffer { post("/v1/config/app", "{}") }

    func get(_ path: String) -> ByteBuffer {
        .request("GET", path, fields: fields)
    }

    private func post(_ path: String, _ json: String) -> ByteBuffer {
        .request("POST", path, fields: fields, json: json)
    }

    /// A new id of a customer who has not logged in.
    static func anonymous() -> String {
        "$RCAnonymousID:" + UUID().uuidString.replacing("-", with: "").lowercased()
    }

    /// Attributes with values of one letter, as JSON.
    static func attributes(_ count: Int, nameSize: Int, valueSize: Int) -> String {
        let value = String(repeating: "v", count: valueSize)
        let members = (0..<count).map { number in
            let name = String(number) + String(repeating: "a", count: nameSize - String(number).utf8.count)
            return #""\#(name)":{"value":"\#(value)","updated_at_ms":1}"#
        }
        return "{\(members.joined(separator: ","))}"
    }
}
