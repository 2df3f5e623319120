// Buys at both local stores, and follows the purchases through Till and the back end. Run it with ../with-till.sh.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	backEnd  = "http://127.0.0.1:" + os.Getenv("PORT")
	service  = os.Getenv("TILL_URL")
	appStore = os.Getenv("TILL_STORE_URL") + "/sandbox/v1"
	play     = os.Getenv("TILL_PLAY_URL") + "/sandbox/v1"
	sandbox  = os.Getenv("TILL_SANDBOX_KEY")
)

type fields map[string]any

func TestMain(m *testing.M) {
	go main()
	for range 2400 {
		if response, err := http.Get(backEnd); err == nil {
			response.Body.Close()
			os.Exit(m.Run())
		}
		time.Sleep(50 * time.Millisecond)
	}
	log.Fatal("the back end does not listen")
}

// call decodes the JSON of an answer into answer, unless that is nil.
func call(t *testing.T, method, url, token string, body, answer any) (status int) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode
}

// A customer is logged in, and has the account token that the app puts into purchases.
type customer struct{ Token, AppAccountToken string }

func logIn(t *testing.T, name string) (customer customer) {
	t.Helper()
	call(t, "POST", backEnd+"/sessions", "", fields{"name": name, "password": passwords[name]}, &customer)
	// The app may ask Till itself, with the same token.
	call(t, "PUT", service+"/v1/me/account-token", customer.Token, nil, &customer)
	return customer
}

func tokenOf(t *testing.T, claims claims) string {
	t.Helper()
	var jwk struct{ D string }
	keyError := json.Unmarshal([]byte(os.Getenv("SIGNING_KEY")), &jwk)
	seed, seedError := base64.RawURLEncoding.DecodeString(jwk.D)
	payload, claimsError := json.Marshal(claims)
	if err := errors.Join(keyError, seedError, claimsError); err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	content := encode([]byte(`{"alg":"EdDSA"}`)) + "." + encode(payload)
	return content + "." + encode(ed25519.Sign(ed25519.NewKeyFromSeed(seed), []byte(content)))
}

func (c customer) items(t *testing.T) (items []string) {
	var answer struct {
		Items []struct {
			Collection string
			Number     int
		}
	}
	call(t, "GET", backEnd+"/items", c.Token, nil, &answer)
	for _, item := range answer.Items {
		items = append(items, fmt.Sprintf("%s %d", item.Collection, item.Number))
	}
	slices.Sort(items)
	return items
}

func (c customer) activity(t *testing.T) (activity []string) {
	var answer []struct {
		Type string
		Data struct{ ProductID string }
	}
	call(t, "GET", backEnd+"/activity", c.Token, nil, &answer)
	for _, each := range answer {
		activity = append(activity, strings.TrimSpace(each.Type+" "+each.Data.ProductID))
	}
	return activity
}

func eventually[Value any](t *testing.T, expected Value, read func() Value) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for fmt.Sprint(read()) != fmt.Sprint(expected) && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	expect(t, expected, read())
}

func expect[Value any](t *testing.T, expected, value Value) {
	t.Helper()
	if fmt.Sprint(value) != fmt.Sprint(expected) {
		t.Fatalf("got %v, expected %v", value, expected)
	}
}

func TestCustomerBuysAtBothStoresAndIsRefundedAtOne(t *testing.T) {
	alice := logIn(t, "alice")
	expect(t, nil, alice.items(t))

	var gate struct{ SignedTransaction, TransactionID string }
	sale := fields{"account": "alice", "productId": "garden.gate", "appAccountToken": alice.AppAccountToken}
	call(t, "POST", appStore+"/purchases", sandbox, sale, &gate)
	var redeemed struct{ Transactions []struct{ MayFinish bool } }
	purchase := fields{"signedTransaction": gate.SignedTransaction}
	expect(t, 200, call(t, "POST", backEnd+"/purchases", alice.Token, purchase, &redeemed))
	expect(t, true, redeemed.Transactions[0].MayFinish)

	var plus struct{ PurchaseToken string }
	sale = fields{"account": "alice", "productId": "garden.plus.monthly", "obfuscatedAccountId": alice.AppAccountToken,
		"packageName": "com.example.garden"}
	call(t, "POST", play+"/subscriptions", sandbox, sale, &plus)
	purchase = fields{"purchaseToken": plus.PurchaseToken}
	expect(t, 200, call(t, "POST", backEnd+"/purchases", alice.Token, purchase, nil))
	expect(t, []string{"gate 1", "plus 1"}, alice.items(t))
	bought := []string{"product.purchased garden.gate", "subscription.purchased garden.plus.monthly"}
	eventually(t, bought, func() []string { return alice.activity(t) })

	call(t, "POST", appStore+"/transactions/"+gate.TransactionID+"/refund", sandbox, fields{}, nil)
	eventually(t, []string{"plus 1"}, func() []string { return alice.items(t) })
	eventually(t, append(bought, "purchase.refunded garden.gate"), func() []string { return alice.activity(t) })
}

func TestPurchaseBelongsToTheUserOfItsAccountToken(t *testing.T) {
	alice, bob := logIn(t, "alice"), logIn(t, "bob")
	var seeds struct{ SignedTransaction string }
	sale := fields{"account": "alice", "productId": "garden.seeds", "appAccountToken": alice.AppAccountToken}
	call(t, "POST", appStore+"/purchases", sandbox, sale, &seeds)
	var problem struct{ Code string }
	purchase := fields{"signedTransaction": seeds.SignedTransaction}
	expect(t, 409, call(t, "POST", backEnd+"/purchases", bob.Token, purchase, &problem))
	expect(t, "appAccountTokenMismatch", problem.Code)
}

func TestUserLogsIn(t *testing.T) {
	alice := logIn(t, "alice")
	issuer, audience, now := os.Getenv("ISSUER"), os.Getenv("AUDIENCE"), time.Now().Unix()
	expect(t, 200, call(t, "GET", backEnd+"/items", tokenOf(t, claims{issuer, audience, "alice", now + 60}), nil, nil))
	signed, forged := strings.Split(alice.Token, "."), strings.Split(logIn(t, "bob").Token, ".")
	for _, token := range []string{
		"", "x", signed[0] + "." + forged[1] + "." + signed[2],
		tokenOf(t, claims{issuer, audience, "alice", now - 1}),
		tokenOf(t, claims{"https://other.example", audience, "alice", now + 60}),
		tokenOf(t, claims{issuer, "other", "alice", now + 60}),
	} {
		expect(t, 401, call(t, "GET", backEnd+"/items", token, nil, nil))
	}
	for _, name := range []string{"alice", "nobody"} {
		expect(t, 401, call(t, "POST", backEnd+"/sessions", "", fields{"name": name, "password": "wrong horse"}, nil))
	}
}

func TestWebhookIsSignedNewAndCountsOnce(t *testing.T) {
	alice := logIn(t, "alice")
	content := fmt.Sprintf(`{"type": "item.given", "timestamp": "2027-01-31T12:00:00Z",
		"data": {"number": 99, "user": {"issuer": %q, "name": "alice"}}}`, os.Getenv("ISSUER"))
	given := func() (count int) {
		for _, each := range alice.activity(t) {
			if each == "item.given" {
				count++
			}
		}
		return count
	}
	deliver := func(at time.Time, secret string) int {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		timestamp := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "msg_1.%s.%s", timestamp, content)
		request, err := http.NewRequest("POST", backEnd+"/hooks", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("webhook-id", "msg_1")
		request.Header.Set("webhook-timestamp", timestamp)
		request.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	secret := os.Getenv("TILL_WEBHOOK_SECRET")
	expect(t, 401, deliver(time.Now(), "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQ="))
	expect(t, 401, deliver(time.Now().Add(-10*time.Minute), secret))
	expect(t, 0, given())
	expect(t, 204, deliver(time.Now(), secret))
	expect(t, 204, deliver(time.Now().Add(time.Second), secret))
	expect(t, 1, given())
}
