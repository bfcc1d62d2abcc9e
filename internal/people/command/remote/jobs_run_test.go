package remote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
)

// One task runs without a workflow of its user's: with what was given, as it was given, and once for each key.
func TestAJobIsOneTask(t *testing.T) {
	t.Parallel()
	u := at(t)
	const task = `jobs/run: "one"`
	u.wants(0, "*", "jobs", "run", task, "--payload", `{"n": 1, "text": "${{ 1 + 1 }}"}`, "--id", "a-job-of-one-task", "--attempts", "2", "--delay", "1ms", "--key", "a-job")
	u.wants(0, "*", "jobs", "run", task, "--payload", `{"n": 1, "text": "${{ 1 + 1 }}"}`, "--id", "a-job-of-one-task", "--attempts", "2", "--delay", "1ms", "--key", "a-job")
	client, err := apiclient.New(apiclient.Config{Server: sharedServer(t)})
	if err != nil {
		t.Fatal(err)
	}
	claim := func() apiclient.ClaimedTask {
		t.Helper()
		got, err := client.ClaimTasks(t.Context(), apiclient.ClaimRequest{Names: []string{task}, Worker: "one", Wait: "30s"})
		if err != nil || len(got.Body.Items) != 1 {
			t.Fatalf("%+v %v", got, err)
		}
		return got.Body.Items[0]
	}
	first := claim()
	if p, _ := first.Payload.(map[string]any); p["text"] != "${{ 1 + 1 }}" || first.InstanceID != "a-job-of-one-task" {
		t.Errorf("%+v", first)
	}
	if _, err := client.FailTask(t.Context(), first.TaskID, apiclient.TaskFailRequest{Claim: first.Claim, Message: "no room", Retry: true}); err != nil {
		t.Fatal(err)
	}
	second := claim()
	if second.InstanceID != first.InstanceID || second.Attempt != 2 || !second.Retried {
		t.Errorf("it is not tried again: %+v", second)
	}
	if _, err := client.CompleteTask(t.Context(), second.TaskID, apiclient.TaskRequest{Claim: second.Claim, Result: "done"}); err != nil {
		t.Fatal(err)
	}
	in, err := client.GetInstance(t.Context(), first.InstanceID, apiclient.WaitUpTo(30*time.Second))
	if err != nil || in.Body.Status != "Finished" || in.Body.Output["result"] != "done" {
		t.Errorf("%+v %v", in, err)
	}

	// Later, and on a schedule.
	u.wants(0, "*", "jobs", "run", task, "--at", "2999-01-01T00:00:00Z", "--id", "a-job-much-later")
	u.wants(0, "*", "jobs", "run", task, "--in", "9000h", "--id", "a-job-in-a-year")
	for _, id := range []string{"a-job-much-later", "a-job-in-a-year"} {
		if got := u.wants(0, "*", "instances", "list", "id:"+id); !strings.Contains(got.out, "timer") {
			t.Errorf("%s", got.out)
		}
	}
	u.wants(0, "job-schedule:a-job v1  scheduled\n", "jobs", "run", task, "--name", "a-job", "--cron", "0 0 3 * * *", "--time-zone", "Europe/Berlin", "--payload", "@"+u.file("payload.json", `{"text": "${{ 1 + 1 }}"}`))
	if got := u.wants(0, "*", "schedules", "list"); !strings.Contains(got.out, "job-schedule:a-job") {
		t.Errorf("%s", got.out)
	}
	u.wants(0, "*", "definitions", "retract", "job-schedule:a-job", "--yes")

	for _, bad := range [][]string{
		{"--attempts is 0; it may be 1 to 100", "--attempts", "0"},
		{"--delay is 2h0m0s; it must be above 0s, and may be up to 1h", "--delay", "2h"},
		{"--name is of a schedule", "--every", "1s"},
		{"--name is of a schedule", "--name", "x"},
		{`--name is "a/b"; it has`, "--name", "a/b", "--every", "1h"},
		{`--at is "tomorrow"; write a time`, "--at", "tomorrow"},
		{"say one of", "--at", "2999-01-01T00:00:00Z", "--in", "1h"},
		{"say one of", "--every", "1h", "--cron", "@daily", "--name", "x"},
		{"are times from now on", "--in", "-1h"},
		{"--time-zone is of --cron", "--time-zone", "Europe/Berlin"},
		{"are of one run, and a schedule has many", "--every", "1h", "--name", "x", "--id", "y"},
	} {
		u.refuses(2, bad[0], append([]string{"jobs", "run", task}, bad[1:]...)...)
	}
	u.refuses(2, "begins an expression", "jobs", "run", "${{ x }}")
	u.refuses(3, "has 5 fields, and not 6", "jobs", "run", task, "--name", "a-job", "--cron", "0 3 * * *")
}
