import HTTPSupport
import Ledger
import Testing

@Suite struct ClientNetworkTests {
    @Test(arguments: [
        ("192.0.2.77", ["192.0.2.77", "192.0.2.0/24"]),
        ("192.0.2.77:51234", ["192.0.2.77", "192.0.2.0/24"]),
        ("255.255.255.255", ["255.255.255.255", "255.255.255.0/24"]),
        ("2001:db8:1:abcd::7", ["2001:db8:1:abcd::/64", "2001:db8:1:ab00::/56", "2001:db8:1:0::/48"]),
        ("[2001:db8:1:abcd::7]:443", ["2001:db8:1:abcd::/64", "2001:db8:1:ab00::/56", "2001:db8:1:0::/48"]),
        // An IPv4-mapped address, one of NAT64, and one of 6to4, which a holder of one IPv4 address has 65,536 networks of.
        ("::ffff:192.0.2.77", ["192.0.2.77", "192.0.2.0/24"]),
        ("64:ff9b::c000:24d", ["192.0.2.77", "192.0.2.0/24"]),
        ("2002:c000:24d:9::1", ["192.0.2.77", "192.0.2.0/24"]),
        ("::1", ["0:0:0:0::/64", "0:0:0:0::/56", "0:0:0:0::/48"]),
        ("unknown", [""]),
        ("", [""]),
    ])
    func `an address is in its nested networks`(address: String, networks: [String]) {
        let nested = ClientNetwork(forwarded: address).nested
        #expect(nested.map(\.description) == networks)
        #expect(nested.last == nested.first?.site)
        #expect(Set(nested).count == nested.count)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", [true, true]),
        ("192.0.2.1", "192.0.2.2", [false, true]),
        ("192.0.2.1", "192.0.3.1", [false, false]),
        ("192.0.2.1", "::ffff:192.0.2.1", [true, true]),
        ("192.0.2.1", "2001:db8::1", [false, false]),
        ("2001:db8:0:1::1", "2001:db8:0:1:2:3:4:5", [true, true, true]),
        ("2001:db8:0:1::1", "2001:db8:0:ff::1", [false, true, true]),
        ("2001:db8:0:1::1", "2001:db8:0:100::1", [false, false, true]),
        ("2001:db8:0:1::1", "2001:db8:1:1::1", [false, false, false]),
        // No address is in the network of those without one.
        ("", "192.0.2.1", [false]),
        ("0.0.0.0", "", [false, false]),
        ("::", "", [false, false, false]),
    ])
    func `a network contains the addresses with its prefix`(network: String, address: String, contains: [Bool]) {
        let other = ClientNetwork(forwarded: address)
        #expect(ClientNetwork(forwarded: network).nested.map { $0.contains(other) } == contains)
    }

    @Test func `a narrow network contains no wider one`() throws {
        let host = ClientNetwork(forwarded: "192.0.2.0")
        #expect(host.site.contains(host))
        #expect(!host.contains(host.site))
    }
}
